include(${TORCH_WHEEL}/share/cmake/Torch/TorchConfigVersion.cmake)
