// Counter-based random numbers: Philox4x64-10 (Salmon, Moraes, Dror and Shaw, 2011), the generator that
// numpy.random.Philox implements too, which is how the tests check it. A word depends on (seed, stream,
// step, position) alone, so a draw depends on neither the thread count nor what was drawn before it.
#pragma once
#include <array>
#include <cstdint>

namespace dualfree {

using Word = std::uint64_t;

inline Word multiply_high(Word a, Word b) { return Word((static_cast<unsigned __int128>(a) * b) >> 64); }

inline std::array<Word, 4> philox(std::array<Word, 4> counter, std::array<Word, 2> key) {
    constexpr Word first = 0xD2E7470EE14C6C93u, second = 0xCA5A826395121157u;
    constexpr Word bump0 = 0x9E3779B97F4A7C15u, bump1 = 0xBB67AE8584CAA73Bu;
    for (int round = 0; round < 10; ++round) {
        const Word high0 = multiply_high(first, counter[0]), low0 = first * counter[0];
        const Word high1 = multiply_high(second, counter[2]), low1 = second * counter[2];
        counter = {high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0};
        key[0] += bump0;
        key[1] += bump1;
    }
    return counter;
}

// A number in 0 .. size-1. The remainder of the product is uniform too and serves as an independent coin;
// the bias of multiplying instead of rejecting is below size / 2^64.
struct Scaled {
    Word whole, rest;
};
inline Scaled scale(Word word, Word size) {
    const auto product = static_cast<unsigned __int128>(word) * size;
    return {Word(product >> 64), Word(product)};
}

inline double unit(Word word) { return double(word >> 11) * 0x1.0p-53; }

// The words of one step, in order: block b holds words 4b .. 4b+3.
class Stream {
  public:
    Stream(Word seed, Word stream, Word step) : key_{seed, stream}, step_(step) {}

    Word next() {
        if (position_ == 4) {
            block_ = philox({index_++, step_, 0, 0}, key_);
            position_ = 0;
        }
        return block_[position_++];
    }

  private:
    std::array<Word, 2> key_;
    Word step_, index_ = 0;
    std::array<Word, 4> block_{};
    unsigned position_ = 4;
};

}  // namespace dualfree
