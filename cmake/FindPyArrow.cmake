# Finds the C++ libraries of Apache Arrow in PyPI's wheel pyarrow, which has no CMake files, by asking
# a Python where they are: PYARROW_PYTHON, else the one in .venv of the project, else python3.
# Defines PyArrow::arrow and PyArrow::parquet.
find_program(PYARROW_PYTHON NAMES python3 python HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CACHE)
if(PYARROW_PYTHON)
  execute_process(COMMAND ${PYARROW_PYTHON} -c
    "import pyarrow; print(pyarrow.__version__, pyarrow.get_include(), *pyarrow.get_library_dirs(), sep=';', end='')"
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    list(POP_FRONT answer PyArrow_VERSION PyArrow_INCLUDE_DIR)
    foreach(library arrow parquet)
      # The names end in the version: libarrow.so.2600.
      list(TRANSFORM answer APPEND "/lib${library}.so*" OUTPUT_VARIABLE names)
      file(GLOB files ${names})
      list(POP_FRONT files PyArrow_${library}_LIBRARY)
    endforeach()
  endif()
endif()

set(PyArrow_advice
  "`pip install pyarrow==25.0.1` into .venv, or name a Python that has it by -DPYARROW_PYTHON=…")
# From 26 on libparquet exports its own simdjson under the same names as the simdjson that seqtrain
# uses. A program with both would call functions of one on objects of the other.
if(PyArrow_parquet_LIBRARY)
  file(STRINGS ${PyArrow_parquet_LIBRARY} names REGEX "^_ZN8simdjson13validate_utf8" LIMIT_COUNT 1)
  if(names)
    set(PyArrow_advice "pyarrow ${PyArrow_VERSION} exports simdjson: ${PyArrow_advice}")
    unset(PyArrow_parquet_LIBRARY)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PyArrow
  REQUIRED_VARS PyArrow_parquet_LIBRARY PyArrow_arrow_LIBRARY PyArrow_INCLUDE_DIR
  VERSION_VAR PyArrow_VERSION
  REASON_FAILURE_MESSAGE "${PyArrow_advice}")

if(PyArrow_FOUND AND NOT TARGET PyArrow::parquet)
  foreach(library arrow parquet)
    add_library(PyArrow::${library} SHARED IMPORTED)
    set_target_properties(PyArrow::${library} PROPERTIES
      IMPORTED_LOCATION ${PyArrow_${library}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${PyArrow_INCLUDE_DIR})
  endforeach()
  target_link_libraries(PyArrow::parquet INTERFACE PyArrow::arrow)
endif()
