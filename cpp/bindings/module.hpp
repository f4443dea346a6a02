#pragma once
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_libsvm(nb::module_& module);
