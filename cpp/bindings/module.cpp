// One line a room: each bindings/*.cpp registers the functions of one kernels/*.hpp.
#include "bindings/module.hpp"

NB_MODULE(DUALFREE_MODULE, module) {
    module.attr("level") = DUALFREE_LEVEL;
    bind_arbitrary(module);
    bind_block_grams(module);
    bind_checks(module);
    bind_cholesky(module);
    bind_component(module);
    bind_dfsdca(module);
    bind_draws(module);
    bind_dual(module);
    bind_eso(module);
    bind_libsvm(module);
    bind_limited_memory(module);
    bind_losses(module);
    bind_newton_steps(module);
    bind_passes(module);
    bind_primal(module);
    bind_restless(module);
    bind_rounds(module);
    bind_vector_losses(module);
    bind_vectors(module);
}
