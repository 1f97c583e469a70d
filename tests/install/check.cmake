# cmake -D build=… -D work=… -D project=… -D compiler=… -D flags=… -P check.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${project} -B ${work}/build -G Ninja
  -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_PREFIX_PATH=${work}/prefix ${flags})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/program)
