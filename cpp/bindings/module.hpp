#pragma once
#include <nanobind/nanobind.h>

void bind_arbitrary(nanobind::module_& module);
void bind_block_grams(nanobind::module_& module);
void bind_checks(nanobind::module_& module);
void bind_cholesky(nanobind::module_& module);
void bind_component(nanobind::module_& module);
void bind_dfsdca(nanobind::module_& module);
void bind_draws(nanobind::module_& module);
void bind_dual(nanobind::module_& module);
void bind_eso(nanobind::module_& module);
void bind_libsvm(nanobind::module_& module);
void bind_limited_memory(nanobind::module_& module);
void bind_losses(nanobind::module_& module);
void bind_newton_steps(nanobind::module_& module);
void bind_passes(nanobind::module_& module);
void bind_primal(nanobind::module_& module);
void bind_restless(nanobind::module_& module);
void bind_rounds(nanobind::module_& module);
void bind_vector_losses(nanobind::module_& module);
void bind_vectors(nanobind::module_& module);
