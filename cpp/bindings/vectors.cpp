#include "kernels/vector_dfsdca.hpp"
#include "kernels/vector_passes.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/vectors.hpp"

using namespace dualfree;

static double bound_dfsdca(nb::tuple examples_tuple, nb::tuple loss_tuple, Slack slack, In<double> scale, double inverse,
                     In<Size> indices, std::optional<In<Size>> start, Out<double> alpha, Out<double> w) {
    const auto examples = vectors_from(examples_tuple);
    const auto loss = checked_loss(loss_tuple, *examples);
    require_examples(indices, examples->n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), examples->total);
    require_size("w", w.size(), examples->weights);
    const Size stride = stride_of(scale, examples->n);
    const Batches batches{indices.data(), data_or_null(start),
                              start ? Size(start->size()) - 1 : Size(indices.size())};
    nb::gil_scoped_release release;
    return dfsdca_vectors(*examples, *loss, {scale.data(), stride, slack}, inverse, batches,
                              alpha.data(), w.data());
}

static double bound_loss_and_gradient(nb::tuple examples_tuple, nb::tuple loss_tuple, In<double> w, Out<double> gradient,
                                std::optional<Out<double>> margins, int threads) {
    const auto examples = vectors_from(examples_tuple);
    const auto loss = checked_loss(loss_tuple, *examples);
    require_size("w", w.size(), examples->weights);
    require_size("gradient", gradient.size(), examples->weights);
    if (margins) require_size("margins", margins->size(), examples->total);
    nb::gil_scoped_release release;
    return vector_loss_and_gradient(*examples, *loss, w.data(), gradient.data(), margins ? margins->data() : nullptr,
                                        threads);
}

static std::pair<double, double> bound_certify(nb::tuple examples_tuple, nb::tuple loss_tuple, In<double> w, In<double> alpha,
                                         Out<double> sums, int threads) {
    const auto examples = vectors_from(examples_tuple);
    const auto loss = checked_loss(loss_tuple, *examples);
    require_size("w", w.size(), examples->weights);
    require_size("alpha", alpha.size(), examples->total);
    require_size("sums", sums.size(), 2 * examples->weights);
    nb::gil_scoped_release release;
    const Certified c = vector_certify(*examples, *loss, w.data(), alpha.data(), sums.data(), threads);
    return std::pair<double, double>{c.loss, c.fenchel};
}

// The outputs of the listed examples, or of all.
static Size outputs_of(const VectorExamples& examples, const std::optional<In<Size>>& indices) {
    if (!indices) return examples.total;
    require_examples(*indices, examples.n);
    Size sum = 0;
    for (std::size_t k = 0; k < indices->size(); ++k) sum += examples.place(indices->data()[k]).m;
    return sum;
}

static void bound_margins(nb::tuple examples_tuple, In<double> w, Out<double> out, std::optional<In<Size>> indices,
                    int threads) {
    const auto examples = vectors_from(examples_tuple);
    require_size("w", w.size(), examples->weights);
    require_size("out", out.size(), outputs_of(*examples, indices));
    nb::gil_scoped_release release;
    if (indices)
        vector_margins_of(*examples, indices->data(), Size(indices->size()), w.data(), out.data());
    else
        vector_margins(*examples, w.data(), out.data(), threads);
}

static void bound_combine(nb::tuple examples_tuple, In<double> coefficients, Out<double> out,
                    std::optional<In<Size>> indices, int threads) {
    const auto examples = vectors_from(examples_tuple);
    require_size("coefficients", coefficients.size(), outputs_of(*examples, indices));
    require_size("out", out.size(), examples->weights);
    nb::gil_scoped_release release;
    if (indices)
        vector_combine_of(*examples, indices->data(), Size(indices->size()), coefficients.data(), out.data());
    else
        vector_combine(*examples, coefficients.data(), out.data(), threads);
}

void bind_vectors(nb::module_& module) {
    module.def("vector_dfsdca", &bound_dfsdca, nb::arg("examples"), nb::arg("loss"), nb::arg("slack").noconvert().none(), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("w").noconvert());
    module.def("vector_loss_and_gradient", &bound_loss_and_gradient, nb::arg("examples"), nb::arg("loss"), nb::arg("w"),
               nb::arg("gradient").noconvert(), nb::arg("margins") = nb::none(), nb::arg("threads") = 1);
    module.def("vector_certify", &bound_certify, nb::arg("examples"), nb::arg("loss"), nb::arg("w"), nb::arg("alpha"),
               nb::arg("sums").noconvert(), nb::arg("threads") = 1);
    module.def("vector_margins", &bound_margins, nb::arg("examples"), nb::arg("w"), nb::arg("out").noconvert(),
               nb::arg("indices") = nb::none(), nb::arg("threads") = 1);
    module.def("vector_combine", &bound_combine, nb::arg("examples"), nb::arg("coefficients"), nb::arg("out").noconvert(),
               nb::arg("indices") = nb::none(), nb::arg("threads") = 1);
}
