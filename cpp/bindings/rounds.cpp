#include <nanobind/stl/tuple.h>

#include "kernels/copies.hpp"
#include "kernels/extrapolation.hpp"
#include "kernels/outlook.hpp"
#include "kernels/passes.hpp"
#include "kernels/rescaling.hpp"
#include "kernels/rounds.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

// (seed, first, length, count, order or None, size, growth, least, smallest_unit, unrest, unit, sure, room, every, factor, goal, near): what
// samplings/restless.py hands over.
struct Course {
    Rounds rounds;
    Unrest unrest;
};

template <class T>
static T array_at(const nb::tuple& t, int at) {
    return nb::cast<T>(t[at], false);
}

static Course course_from(const nb::tuple& t, Size n) {
    if (t.size() != 17) throw nb::value_error("course must have 17 entries.");
    const auto number = [&](int at) { return nb::cast<double>(t[at]); };
    const auto whole = [&](int at) { return nb::cast<Size>(t[at]); };
    const auto order = nb::cast<std::optional<In<Size>>>(t[4], false);
    const auto size = array_at<In<double>>(t, 5);
    const auto unrest = array_at<Out<double>>(t, 9);
    const auto room = array_at<Out<Size>>(t, 12);
    require_size("size", size.size(), n);
    require_size("unrest", unrest.size(), n);
    require_size("room", room.size(), n + 1);
    const Size ordered = order ? Size(order->size()) : 0;
    const Rounds rounds{nb::cast<Word>(t[0]), whole(1), number(2), whole(3), data_or_null(order), ordered, whole(13), number(14), number(15), nb::cast<bool>(t[16])};
    if (rounds.first < 0 || rounds.count < 0 || rounds.every < 1) throw nb::value_error("first and count must not be negative, every at least 1.");
    if (!(rounds.length >= 1 && rounds.length <= double(n))) throw nb::value_error("length must be between 1 and the number of examples.");
    if (!(double(rounds.first + rounds.count) * rounds.length < 9e15)) throw nb::value_error("first is too large: iterations must be below 9e15.");
    if (order) {
        require_examples(*order, n);
        Size listed = 0;
        while (listed < rounds.count && rounds.listed(listed)) ++listed;
        require_size("order", ordered, rounds.begin(listed) - rounds.begin(0));
    }
    return {rounds, {size.data(), number(6), number(7), number(8), unrest.data(), number(10), number(11), room.data()}};
}

static nb::list listed(const std::vector<double>& numbers) {
    nb::list out;
    for (double number : numbers) out.append(number);
    return out;
}

static double offset_of(const Rows& rows) {
    return std::visit([](const auto& r) { return r.offset; }, rows);
}

// (length, left, price, unit, known, fresh, by visits, alpha before, w before), see extrapolation.hpp; without it there is no such line.
using LineTuple = std::tuple<Size, Size, double, Size, bool, double, double, Out<double>, Out<double>>;
using ToldLine = std::optional<LineTuple>;

static Momentum momentum_from(const ToldLine& told, Size n, Size d) {
    if (!told) return {};
    const auto& [length, left, price, unit, known, fresh, by_visits, alpha, w] = *told;
    require_size("alpha before", alpha.size(), n);
    require_size("w before", w.size(), d);
    if (length < 1 || unit < 1) throw nb::value_error("length and unit must be at least 1.");
    return {{length, left, price, unit}, known, fresh, by_visits};
}

static Line line_from(const LineTuple& told, const Rows& rows, const AnyLoss& loss, double inverse, double* alpha, double* w) {
    return {rows, loss, examples_of(rows), features_of(rows), inverse, alpha, w, std::get<7>(told).data(), std::get<8>(told).data()};
}

// (length, left, squares, price, flatness, line), see rescaling.hpp; without it nothing is multiplied.
using Told = std::optional<std::tuple<Size, Size, double, double, double, ToldLine>>;

static Multiples multiples_from(const Told& told) {
    if (!told) return {{1, 1, infinity}, 0};
    const auto& [length, left, squares, price, flatness, line] = *told;
    return {{length, left, price}, flatness};
}

// What has become of it: length, left, squares, how often alpha was multiplied, how much it may have grown by that, and of the
// line length, left, known, fresh and by visits, how often alpha went along it, what roundings that is worth, and how far it moved.
static nb::object told_again(const Told& told, const Multiples& now, double squares, const Momentum& momentum) {
    if (!told) return nb::none();
    nb::object line = nb::none();
    if (std::get<5>(*told)) line = nb::make_tuple(momentum.pause.length, momentum.pause.left, momentum.known, momentum.fresh, momentum.by_visits, momentum.times, momentum.roundings, momentum.moved);
    return nb::make_tuple(now.pause.length, now.pause.left, squares, now.times, now.growth, line);
}

// (lambda, share, margin, tol, absolute_tol, patience, wait in epochs, margins), see outlook.hpp; without it nobody looks.
using Looking = std::optional<std::tuple<double, double, double, double, double, double, double, Out<double>>>;

static std::optional<Outlook> outlook_from(const Looking& looking, const Rounds& rounds, Size n) {
    if (!looking) return std::nullopt;
    const auto& [lambda, share, margin, tol, absolute_tol, patience, wait, margins] = *looking;
    require_size("margins", margins.size(), n);
    return Outlook{lambda, share, margin, tol, absolute_tol, patience, wait * double(n) / rounds.length, margins.data()};
}

// Returns what alpha moved, squared, for each question, the unit and the sure unrest after the last round, what has become of
// the rescaling, and what was seen on the way: (questions before it, value, gap, outside).
static nb::tuple dfsdca_rounds(nb::tuple rows_tuple, nb::tuple loss_tuple, Slack slack, In<double> scale, double inverse,
                               nb::tuple course_tuple, Told told, Out<double> alpha, Out<double> w, Looking looking) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows), stride = stride_of(scale, n);
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    if (told && !slack) throw nb::value_error("rescaling is for implicit steps.");
    Course course = course_from(course_tuple, n);
    std::optional<Outlook> outlook = outlook_from(looking, course.rounds, n);
    std::vector<double> moved;
    std::vector<Seen> seen;
    std::optional<Rescaling> rescaling;
    std::optional<Extrapolation> extrapolation;
    const ToldLine line = told ? std::get<5>(*told) : std::nullopt;
    Momentum momentum = momentum_from(line, n, features_of(rows));
    Turn turn{0, 1, nullptr};
    {
        nb::gil_scoped_release release;
        if (told)
            rescaling.emplace(loss, n, features_of(rows), offset_of(rows), inverse, multiples_from(told), std::get<2>(*told), alpha.data(), w.data());
        if (line) extrapolation.emplace(line_from(*line, rows, loss, inverse, alpha.data(), w.data()), 1);
        const auto visit = [&](const Size* visited, Size count) {
            const Kept kept = rescaling ? rescaling->kept() : Kept{};
            const Visited made = slack ? visit_each(rows, loss, ImplicitStep{scale.data(), stride, *slack}, inverse, visited, count, alpha.data(), w.data(), kept)
                                       : visit_each(rows, loss, FixedStep{scale.data(), stride}, inverse, visited, count, alpha.data(), w.data());
            if (rescaling) rescaling->add(made);
            if (extrapolation) momentum.add(rescaling->multiples().won_by(made), count);
            return made.moved;
        };
        const auto end_round = [&] {
            if (rescaling) rescaling->end_round();
            if (!extrapolation || !momentum.pause.over()) return;
            rescaling->settle();
            rescaling->change_squares(extrapolation->end_round(turn, momentum, rescaling->kept().offset));
        };
        const auto far = [&](Rounds& rounds, double since, Size r) {
            if (!outlook) return false;
            if (rescaling) rescaling->settle();
            const Glanced all = glance_at(rows, loss, w.data(), alpha.data(), outlook->margins, 1);
            const double squares = inner(w.data(), 1, w.data(), 1, features_of(rows));
            const Certified sums = all.parts.value();
            seen.push_back({r, sums.loss / double(n) + 0.5 * outlook->lambda * squares, sums.fenchel / double(n), all.outside});
            return outlook->far(seen.back(), since, rounds);
        };
        moved = in_rounds(course.rounds, course.unrest, alpha.data(), n, visit, end_round, far);
        if (rescaling) rescaling->settle();
    }
    const auto became = rescaling ? told_again(told, rescaling->multiples(), rescaling->squares(), momentum) : nb::none();
    nb::list looks;
    for (const Seen& at : seen) looks.append(nb::make_tuple(at.round / course.rounds.every, at.value, at.gap, at.outside));
    return nb::make_tuple(listed(moved), course.unrest.unit, course.unrest.sure, became, looks);
}

// Those that are most popular, up to so many.
static Array<Size> popular(nb::tuple rows_tuple, Size most, Out<double> room) {
    const Rows rows = rows_from(rows_tuple);
    require_size("room", room.size(), features_of(rows));
    if (most < 0) throw nb::value_error("most must not be negative.");
    return to_array(std::visit([&](const auto& r) { return popular_features(r, most, room.data()); }, rows));
}

static void require_features(const In<Size>& features, Size d) {
    for (std::size_t k = 0; k < features.size(); ++k)
        if (features.data()[k] < (k == 0 ? 0 : features.data()[k - 1] + 1) || features.data()[k] >= d)
            throw nb::value_error("popular must be features in rising order.");
}

// The same but for the rescaling, (sigma, stretches), what alpha would have moved had no move been shortened, for each question,
// whether the first thread let the others go, and the rescaling. Where `alone` is true it does so from the start.
static nb::tuple dfsdca_copies(Crew& crew, nb::tuple rows_tuple, nb::tuple loss_tuple, double slack, In<double> scale, double inverse,
                               nb::tuple course_tuple, Told told, Size merges, In<Size> popular, double sigma, Size stretches, Out<double> room, Out<double> alpha, Out<double> w, bool alone) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows), d = features_of(rows);
    const ImplicitStep step{scale.data(), stride_of(scale, n), slack};
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), d);
    require_size("room", room.size(), Copies::room_for(crew.size(), d, Size(popular.size())));
    if (merges < 1 || stretches < 1 || !(sigma >= 1)) throw nb::value_error("merges, stretches and sigma must be at least 1.");
    require_features(popular, d);
    const ToldLine line = told ? std::get<5>(*told) : std::nullopt;
    Pace pace{sigma, popular.size() > 0 ? stretches : 1, multiples_from(told), {1.0, offset_of(rows)}, momentum_from(line, n, d)};
    Course course = course_from(course_tuple, n);
    std::vector<double> moved, walked;
    bool deserted = false;
    {
        nb::gil_scoped_release release;
        const CopiesTask task{rows, loss, step, inverse, course.rounds, n, d, merges, popular.data(), Size(popular.size()), told.has_value(), room.data(), alpha.data(), w.data()};
        Copies all(task, crew.size(), line ? std::optional(line_from(*line, rows, loss, inverse, alpha.data(), w.data())) : std::nullopt);
        Barrier barrier(crew.size());
        const Unrest before = course.unrest;
        const Pace given = pace;
        const auto work = [&](Turn turn) {
            Unrest unrest = before;
            Pace learnt = given;
            all.run(turn, unrest, learnt);
            if (turn.first == 0) course.unrest = unrest, pace = learnt;
        };
        if (alone)
            work({0, crew.size(), nullptr});
        else
            crew.run([&](int t) { work({t, t + 1, &barrier}); });
        moved = all.moved(), walked = all.walked(), deserted = all.deserted();
    }
    return nb::make_tuple(listed(moved), course.unrest.unit, course.unrest.sure, nb::make_tuple(pace.sigma, pace.stretches), listed(walked), deserted, told_again(told, pace.multiples, -1.0, pace.momentum));
}

void bind_rounds(nb::module_& module) {
    nb::class_<Crew>(module, "Crew")
        .def("__init__",
             [](Crew* crew, int threads) {
                 if (threads < 1) throw nb::value_error("threads must be at least 1.");
                 new (crew) Crew(threads);
             })
        .def("present", &Crew::present)
        .def("rest", &Crew::rest)
        .def_prop_ro("size", &Crew::size);
    module.def("dfsdca_rounds", &dfsdca_rounds, nb::arg("rows"), nb::arg("loss"), nb::arg("slack").noconvert().none(), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("course"), nb::arg("rescaling").none(), nb::arg("alpha").noconvert(), nb::arg("w").noconvert(),
               nb::arg("outlook") = nb::none());
    module.def("copies_room", &Copies::room_for, nb::arg("parts"), nb::arg("features"), nb::arg("popular"));
    module.def("popular", &popular, nb::arg("rows"), nb::arg("most"), nb::arg("room").noconvert());
    module.def("dfsdca_copies", &dfsdca_copies, nb::arg("crew"), nb::arg("rows"), nb::arg("loss"), nb::arg("slack").noconvert(), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("course"), nb::arg("rescaling").none(), nb::arg("merges"), nb::arg("popular"), nb::arg("sigma"), nb::arg("stretches"), nb::arg("room").noconvert(),
               nb::arg("alpha").noconvert(), nb::arg("w").noconvert(), nb::arg("alone") = false);
}
