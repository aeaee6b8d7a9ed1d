// An array of the event graph: owned, in bytes that somebody else keeps, or packed and unpacked block by
// block as it is asked for. Of millions of entries most questions look at a few.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pastcone::causal {

/// What is known of a packed array. May be used from several threads.
class Pages {
 public:
  /// Blocks have 1 << `shift` entries.
  Pages(size_t count, unsigned shift) : shift_(shift), ready_(blocks_of(count, shift)) {}
  virtual ~Pages() = default;

  static size_t blocks_of(size_t count, unsigned shift) {
    return (count >> shift) + ((count & ((size_t{1} << shift) - 1)) != 0 ? 1 : 0);
  }

  void need(size_t i) {
    if (!ready_[i >> shift_].load(std::memory_order_acquire)) fill(i >> shift_);
  }
  void need(size_t from, size_t count) {
    for (size_t block = from >> shift_; count > 0 && block <= (from + count - 1) >> shift_; ++block)
      need(block << shift_);
  }

 protected:
  /// Unpacks a block into its place. Called once for each.
  virtual void unpack(size_t block) = 0;

 private:
  void fill(size_t block) {
    std::lock_guard lock(mutex_);
    if (ready_[block].load(std::memory_order_relaxed)) return;
    unpack(block);
    ready_[block].store(true, std::memory_order_release);
  }

  unsigned shift_;
  std::vector<std::atomic<bool>> ready_;
  std::mutex mutex_;
};

template <typename T>
class Column {
 public:
  Column() = default;
  Column(std::vector<T> values) : own_(std::move(values)), view_(own_) {}
  static Column over(std::span<const T> view) {
    Column column;
    column.view_ = view;
    return column;
  }
  /// `view` is where the pages are unpacked to.
  static Column packed(std::span<const T> view, std::shared_ptr<Pages> pages) {
    Column column = over(view);
    column.pages_ = std::move(pages);
    return column;
  }
  Column(Column&&) noexcept = default;
  Column& operator=(Column&&) noexcept = default;

  const T& operator[](size_t i) const {
    if (pages_ != nullptr) pages_->need(i);
    return view_[i];
  }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }

  /// Entries that lie one behind the other in memory.
  std::span<const T> part(size_t from, size_t count) const {
    if (pages_ != nullptr) pages_->need(from, count);
    return view_.subspan(from, count);
  }
  /// All of them.
  std::span<const T> view() const { return part(0, view_.size()); }

  /// Whoever looks at it sees to it that there is something.
  std::span<const T> packed_view() const { return view_; }

  /// Unpacks only what is looked at.
  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;
    using reference = const T&;
    using pointer = const T*;
    using iterator_category = std::random_access_iterator_tag;

    Iterator() = default;
    Iterator(const Column* column, difference_type at) : column_(column), at_(at) {}

    reference operator*() const { return (*column_)[static_cast<size_t>(at_)]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type i) const { return (*column_)[static_cast<size_t>(at_ + i)]; }
    Iterator& operator+=(difference_type n) { return at_ += n, *this; }
    Iterator& operator-=(difference_type n) { return at_ -= n, *this; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const Column* column_ = nullptr;
    difference_type at_ = 0;
  };

  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<ptrdiff_t>(view_.size())}; }

 private:
  std::vector<T> own_;  // moving a vector keeps its address, so view_ stays good
  std::span<const T> view_;
  std::shared_ptr<Pages> pages_;
};

/// What follows from the rest, and is made when it is asked for first. May be asked from several threads.
template <typename T>
class Derived {
 public:
  template <typename Make>
  const T& get(Make make) const {
    std::call_once(state_->once, [&] { state_->value.emplace(make()); });
    return *state_->value;
  }
  /// It is known already.
  void set(T value) {
    get([&] { return std::move(value); });
  }

 private:
  struct State {
    std::once_flag once;
    std::optional<T> value;
  };
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

}  // namespace pastcone::causal
