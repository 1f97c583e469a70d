# cmake -D program=… -D block=… -D expected=file -P check_output.cmake
file(READ ${expected} expected)
execute_process(COMMAND ${program} ${block} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said STREQUAL expected)
  message(FATAL_ERROR "The page says:\n${expected}\nThe program says:\n${said}")
endif()
