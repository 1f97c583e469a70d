// The main function of the programs that train or predict. PROGRAM is a function in the program's
// own file. The tests link several of these functions.
int PROGRAM(int argc, char** argv);

int main(int argc, char** argv) {
  return PROGRAM(argc, argv);
}
