// Which of the compiled instruction sets this processor can run. Built without any special flags, because
// it must itself run everywhere.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

static std::vector<std::string> supported() {
    std::vector<std::string> levels{"baseline"};
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (v3) levels.push_back("avx2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v4) levels.push_back("avx512");
#endif
    return levels;
}

NB_MODULE(_processor, module) {
    module.def("supported", &supported, "Instruction sets that can run here, the best last.");
}
