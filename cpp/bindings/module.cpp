// One line a room: each bindings/*.cpp registers the functions of one kernels/*.hpp.
#include "bindings/module.hpp"

NB_MODULE(DUALFREE_MODULE, module) {
    module.attr("level") = DUALFREE_LEVEL;
    bind_libsvm(module);
}
