#include "kernels/restless.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/vectors.hpp"

using namespace dualfree;

static void learn(nb::tuple places_tuple, In<Size> visited, In<double> before, In<double> alpha, In<double> size, double factor,
                  double least, Out<double> unrest) {
    const Places places = places_from(places_tuple);
    require_size("alpha", alpha.size(), places.total);
    require_size("size", size.size(), places.n);
    require_size("unrest", unrest.size(), places.n);
    require_examples(visited, places.n);
    Size outputs = 0;
    for (std::size_t k = 0; k < visited.size(); ++k) outputs += places.place(visited.data()[k]).m;
    require_size("before", before.size(), outputs);
    learn_unrest(visited.data(), Size(visited.size()), before.data(), alpha.data(), places.most, places.start, size.data(), factor,
                 least, unrest.data());
}

// The first `count` entries of `order`, which has room for one more than there are examples; returns the unrest that was
// sure of a visit.
static double draw(Word seed, Size round, In<double> unrest, Size count, bool near, double guess, Out<Size> order) {
    const Size n = Size(unrest.size());
    if (count < 0 || count > n) throw nb::value_error("count must not exceed the number of examples.");
    require_size("order", order.size(), n + 1);
    const Size* drawn = draw_restless(seed, round, unrest.data(), n, count, near, guess, order.data());
    std::copy(drawn, drawn + count, order.data());
    return guess;
}

static Array<Size> by_windows(Word seed, Size n) {
    if (n < 0) throw nb::value_error("n must not be negative.");
    std::vector<Size> runs(std::size_t(runs_of(n))), out(static_cast<std::size_t>(n));
    draw_by_windows(seed, n, runs.data(), out.data());
    return to_array(std::move(out));
}

void bind_restless(nb::module_& module) {
    module.def("learn_unrest", &learn, nb::arg("places"), nb::arg("visited"), nb::arg("before"), nb::arg("alpha"), nb::arg("size"),
               nb::arg("factor"), nb::arg("least"), nb::arg("unrest").noconvert());
    module.def("draw_restless", &draw, nb::arg("seed"), nb::arg("round"), nb::arg("unrest"), nb::arg("count"), nb::arg("near"),
               nb::arg("guess"), nb::arg("order").noconvert());
    module.def("draw_by_windows", &by_windows, nb::arg("seed"), nb::arg("n"));
}
