# Finds the part for processors of a LibTorch built with CUDA, which is what PyPI has of the newest versions. The
# wheel's own TorchConfig.cmake needs a CUDA toolkit. TORCH_WHEEL names the wheel's folder `torch`.
add_library(torch INTERFACE IMPORTED)
target_include_directories(torch SYSTEM INTERFACE
  ${TORCH_WHEEL}/include ${TORCH_WHEEL}/include/torch/csrc/api/include)
target_link_libraries(torch INTERFACE ${TORCH_WHEEL}/lib/libtorch_cpu.so ${TORCH_WHEEL}/lib/libc10.so)
target_compile_definitions(torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
