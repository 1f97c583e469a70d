# cmake -D compiler=… -D includes=a|b -D header=file.hpp -D options=… -P precompile.cmake
include(${CMAKE_CURRENT_LIST_DIR}/compile.cmake)
execute_process(COMMAND ${compile} ${options} -x c++-header ${header} -o ${header}.gch COMMAND_ERROR_IS_FATAL ANY)
