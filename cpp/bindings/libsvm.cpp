#include "bindings/module.hpp"

void bind_libsvm(nanobind::module_&) {}
