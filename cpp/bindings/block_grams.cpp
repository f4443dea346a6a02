#include "kernels/block_grams.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/vectors.hpp"

using namespace dualfree;

static Size squares_of(const In<Size>& start) {
    Size sum = 0;
    for (std::size_t i = 1; i < start.size(); ++i) {
        const Size m = start.data()[i] - start.data()[i - 1];
        sum += m * m;
    }
    return sum;
}

static BlockList blocks_from(const Rows& rows, const In<Size>& start) {
    require_blocks(start, examples_of(rows));
    return {start.data(), Size(start.size()) - 1};
}

void bind_block_grams(nb::module_& module) {
    module.def("block_feature_sums",
               [](nb::tuple rows_tuple, In<Size> start, std::optional<In<double>> mass, Out<double> out) {
        const Rows rows = rows_from(rows_tuple);
        const BlockList blocks = blocks_from(rows, start);
        if (mass) require_size("mass", mass->size(), blocks.count);
        require_size("out", out.size(), features_of(rows));
        nb::gil_scoped_release release;
        std::visit([&](const auto& r) { block_feature_sums(r, blocks, data_or_null(mass), out.data()); }, rows);
    }, nb::arg("rows"), nb::arg("start"), nb::arg("mass").none(), nb::arg("out").noconvert());
    module.def("block_grams", [](nb::tuple rows_tuple, In<Size> start, std::optional<In<double>> beta,
                                 std::optional<In<double>> less, Out<double> out) {
        const Rows rows = rows_from(rows_tuple);
        const BlockList blocks = blocks_from(rows, start);
        if (beta) require_size("beta", beta->size(), features_of(rows));
        if (less) require_size("less", less->size(), blocks.count);
        require_size("out", out.size(), squares_of(start));
        nb::gil_scoped_release release;
        std::visit([&](const auto& r) { block_grams(r, blocks, data_or_null(beta), data_or_null(less), out.data()); },
                   rows);
    }, nb::arg("rows"), nb::arg("start"), nb::arg("beta").none(), nb::arg("less").none(), nb::arg("out").noconvert());
    module.def("grouped_block_grams",
               [](nb::tuple rows_tuple, In<Size> start, In<Size> members, In<Size> group_start,
                  std::optional<In<double>> mass, In<double> constant, In<double> slope, In<double> coupling,
                  In<double> feature, In<Size> place, Out<double> out) {
        const Rows rows = rows_from(rows_tuple);
        const BlockList blocks = blocks_from(rows, start);
        const GroupBeta beta{constant.data(), slope.data(), coupling.data(), feature.data()};
        const Groups groups{members.data(), group_start.data(), Size(group_start.size()) - 1};
        require_examples(members, blocks.count);
        require_batches(group_start, members.size());
        require_size("feature", feature.size(), features_of(rows));
        require_size("place", place.size(), blocks.count);
        require_size("out", out.size(), squares_of(start));
        nb::gil_scoped_release release;
        std::visit([&](const auto& r) {
            grouped_block_grams(r, blocks, groups, data_or_null(mass), beta, place.data(), out.data());
        }, rows);
    }, nb::arg("rows"), nb::arg("start"), nb::arg("members"), nb::arg("group_start"), nb::arg("mass").none(),
       nb::arg("constant"), nb::arg("slope"), nb::arg("coupling"), nb::arg("feature"), nb::arg("place"),
       nb::arg("out").noconvert());
}
