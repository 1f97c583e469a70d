#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/weights/numpy_array.hpp>
#include <seqtrain/weights/pickle.hpp>

namespace seqtrain::weights {

/// The advice about a pickle that has anything but tensors.
inline constexpr std::string_view only_tensors =
    "only tensors, numbers, strings, lists, tuples and dicts can be read";

namespace detail {

/// Interprets a pickle. Each opcode adds a value to the array or changes the stack. Memory is
/// limited to a multiple of the pickle's size, and nothing is recursive.
class Unpickler : PickleInput {
 public:
  Unpickler(std::span<const std::byte> bytes, const std::string& file,
            std::span<const std::string_view> globals, std::string_view advice)
      : PickleInput{bytes, file}, globals_{globals}, advice_{advice} {
    require(bytes.size() <= size_limit, "larger than 64 MiB");
  }

  Pickle run() {
    constexpr std::uint8_t last = '.';
    for (;;) {
      const auto opcode = number<std::uint8_t>();
      if (opcode != last) {
        step(opcode);
      } else if (outer_.empty()) {
        pickle_.root = pop();
        return std::move(pickle_);
      } else {
        end_inner();
      }
    }
  }

 private:
  using Ref = Pickle::Ref;
  static constexpr std::size_t size_limit = std::size_t{1} << 26;  // a value takes some 40 bytes

  /// Executes one opcode. The letters are from Python's pickle.py.
  void step(std::uint8_t opcode) {
    if (opcode == 0x80) return require(number<std::uint8_t>() <= 5, "made by a later Python");
    if (opcode == 0x95) return void(number<std::uint64_t>());  // frames only help to read in blocks
    if (opcode == '(') return marks_.push_back(stack_.size());
    if (opcode == 'c') return push_global();
    if (opcode == 0x93) return push_global_of_stack();
    if (opcode == 'R' || opcode == 0x81) return reduce();
    if (opcode == 'b') return build();
    if (opcode == 'Q') return push(Pickle::Persistent{pop()});
    if (opcode == 'q') return memoize(number<std::uint8_t>());
    if (opcode == 'r') return memoize(number<std::uint32_t>());
    if (opcode == 0x94) return memoize(static_cast<std::uint32_t>(memo_.size()));
    if (opcode == 'h') return recall(number<std::uint8_t>());
    if (opcode == 'j') return recall(number<std::uint32_t>());
    step_container(opcode);
  }

  void step_container(std::uint8_t opcode) {
    if (opcode == ')') return push(Pickle::Tuple{});
    if (opcode == 0x85) return push(Pickle::Tuple{pop(1)});
    if (opcode == 0x86) return push(Pickle::Tuple{pop(2)});
    if (opcode == 0x87) return push(Pickle::Tuple{pop(3)});
    if (opcode == 't') return push(Pickle::Tuple{pop_to_mark()});
    if (opcode == ']') return push(Pickle::List{});
    if (opcode == 'a') return append(pop(1));
    if (opcode == 'e') return append(pop_to_mark());
    if (opcode == '}') return push(Pickle::Dict{});
    if (opcode == 's') return set_items(pop(2));
    if (opcode == 'u') return set_items(pop_to_mark());
    step_scalar(opcode);
  }

  void step_scalar(std::uint8_t opcode) {
    if (opcode == 'N') return push(Pickle::None{});
    if (opcode == 0x88 || opcode == 0x89) return push(opcode == 0x88);
    if (opcode == 'K') return push(std::int64_t{number<std::uint8_t>()});
    if (opcode == 'M') return push(std::int64_t{number<std::uint16_t>()});
    if (opcode == 'J') {
      return push(std::int64_t{std::bit_cast<std::int32_t>(number<std::uint32_t>())});
    }
    if (opcode == 0x8a) return push(long_integer());
    if (opcode == 'G') return push(big_endian_double());
    if (opcode == 'X') return push(string(number<std::uint32_t>()));
    if (opcode == 0x8c) return push(string(number<std::uint8_t>()));
    if (opcode == 0x8d) return push(string(number<std::uint64_t>()));
    if (opcode == 'C') return push(Pickle::Bytes{take(number<std::uint8_t>())});
    if (opcode == 'B') return push(Pickle::Bytes{take(number<std::uint32_t>())});
    if (opcode == 0x8e || opcode == 0x96) return push(Pickle::Bytes{take(number<std::uint64_t>())});
    throw error("opcode " + std::to_string(opcode) + " is not supported", std::string{advice_});
  }

  // ---- what opcodes do ----

  void push_global() {
    const auto module = line();
    push_global(module, line());
  }

  void push_global(std::string_view module, std::string_view name) {
    std::string global = std::string{module} + "." + std::string{name};
    for (const auto known : globals_) {
      if (known == global) return push(Pickle::Global{std::move(global)});
    }
    throw error("'" + printable(global) + "' is not supported", std::string{advice_});
  }

  void push_global_of_stack() {
    const auto names = pop(2);
    const auto* module = pickle_.get_if<std::string_view>(names[0]);
    const auto* name = pickle_.get_if<std::string_view>(names[1]);
    require(module != nullptr && name != nullptr, "the name of a class is not a string");
    push_global(*module, *name);
  }

  /// Turns a call into data. An OrderedDict without arguments becomes an ordinary dict.
  void reduce() {
    const auto call = pop(2);
    const auto* function = pickle_.get_if<Pickle::Global>(call[0]);
    const auto* arguments = pickle_.get_if<Pickle::Tuple>(call[1]);
    require(function != nullptr && arguments != nullptr,
            "a call of something that is not a function");
    if (function->name == "collections.OrderedDict" && arguments->items.empty()) {
      push(Pickle::Dict{});
    } else {
      push(Pickle::Call{call[0], call[1]});
    }
  }

  /// Keeps an object's attributes. A dict needs none: a state_dict has `_metadata` there.
  void build() {
    const Ref state = pop();
    const Ref object = top();
    auto* call = std::get_if<Pickle::Call>(&pickle_.values[object]);
    require(call != nullptr || pickle_.get_if<Pickle::Dict>(object) != nullptr,
            "attributes of something that is not an object");
    if (call == nullptr) return;
    call->state = state;
    if (pickle_.called(object) == joblib_array) take_contents(object, state);
  }

  /// Takes the elements of an array, which joblib writes after its description: numbers after a
  /// byte that says how many bytes of padding come first, or objects as a pickle of their own.
  void take_contents(Ref object, Ref state) {
    const auto array = described_by_joblib(pickle_, state);
    require(array.has_value(), "an array of a type that is not supported");
    if (array->kind == 'O') {
      outer_.push_back({std::move(stack_), std::move(marks_), std::move(memo_), object});
      stack_.clear();
      marks_.clear();
      memo_.clear();
      return;
    }
    const auto alignment = pickle_.member(state, "numpy_array_alignment_bytes");
    if (alignment && pickle_.get_if<Pickle::None>(*alignment) == nullptr) {
      take(number<std::uint8_t>());
    }
    std::get<Pickle::Call>(pickle_.values[object]).contents = next();
    pickle_.values.emplace_back(Pickle::Bytes{take(array->count() * array->size)});
  }

  /// Goes on with the pickle around the one that has ended.
  void end_inner() {
    const Ref inner = pop();
    stack_ = std::move(outer_.back().stack);
    marks_ = std::move(outer_.back().marks);
    memo_ = std::move(outer_.back().memo);
    std::get<Pickle::Call>(pickle_.values[outer_.back().object]).contents = inner;
    outer_.pop_back();
  }

  void append(const std::vector<Ref>& items) {
    auto* list = std::get_if<Pickle::List>(&pickle_.values[top()]);
    require(list != nullptr, "an append to something that is not a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<Ref>& items) {
    auto* dict = std::get_if<Pickle::Dict>(&pickle_.values[top()]);
    require(dict != nullptr && items.size() % 2 == 0, "members of something that is not a dict");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict->members.emplace_back(items[i], items[i + 1]);
    }
  }

  // ---- stack and memo ----

  [[nodiscard]] Ref next() const { return static_cast<Ref>(pickle_.values.size()); }

  void push(Pickle::Value value) {
    stack_.push_back(next());
    pickle_.values.push_back(std::move(value));
  }

  void memoize(std::uint32_t index) { memo_[index] = top(); }

  void recall(std::uint32_t index) {
    const auto place = memo_.find(index);
    require(place != memo_.end(), "a reference to a value that does not exist");
    stack_.push_back(place->second);
  }

  Ref top() {
    require(stack_.size() > bottom(), "an opcode takes more values than there are");
    return stack_.back();
  }

  Ref pop() {
    const Ref ref = top();
    stack_.pop_back();
    return ref;
  }

  std::vector<Ref> pop(std::size_t count) {
    require(stack_.size() - bottom() >= count, "an opcode takes more values than there are");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<Ref> items{first, stack_.end()};
    stack_.erase(first, stack_.end());
    return items;
  }

  std::vector<Ref> pop_to_mark() {
    require(!marks_.empty(), "an opcode needs a mark that was not set");
    auto items = pop(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  /// Returns the height of the stack at the last mark. No value below it may be taken.
  [[nodiscard]] std::size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  static std::string printable(std::string_view text) {
    std::string result{text.substr(0, 200)};
    for (char& c : result) {
      if (c < 0x20 || c > 0x7e) c = '?';
    }
    return result;
  }

  using Memo = std::unordered_map<std::uint32_t, Ref>;

  /// The state of a pickle while one inside it is read.
  struct Outer {
    std::vector<Ref> stack;
    std::vector<std::size_t> marks;
    Memo memo;
    Ref object;  ///< the array whose elements the inner one has
  };

  std::span<const std::string_view> globals_;
  std::string_view advice_;
  Pickle pickle_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  Memo memo_;
  std::vector<Outer> outer_;
};

}  // namespace detail

/// Reads a pickle of protocol 2 to 5 as torch.save writes it: dicts, lists, tuples, strings, bytes,
/// numbers and tensors; and, if `globals` has their names, objects and arrays of numpy, also by
/// joblib. Throws `InputError` with `file` and the name if the pickle has an unknown opcode or a
/// class or function that is not among `globals`; `advice` then says what to do.
inline Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& file,
                           std::span<const std::string_view> globals,
                           std::string_view advice = only_tensors) {
  return detail::Unpickler{bytes, file, globals, advice}.run();
}

}  // namespace seqtrain::weights
