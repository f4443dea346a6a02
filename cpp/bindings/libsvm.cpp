#include "bindings/module.hpp"

void bind_libsvm(nb::module_&) {}
