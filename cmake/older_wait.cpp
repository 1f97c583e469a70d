// libstdc++ 12 has two versions of std::condition_variable::wait(lock). They do the same, but only
// the older one is also in libstdc++ 11. Programs that link this file call the older one, so they
// need no symbol of libstdc++ 12.
#include <condition_variable>
#include <mutex>

#define SEQTRAIN_WAIT "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
__asm__(".symver seqtrain_older_wait, " SEQTRAIN_WAIT "@GLIBCXX_3.4.11");

using Condition = std::condition_variable;
using Lock = std::unique_lock<std::mutex>;

extern "C" void seqtrain_older_wait(Condition* condition, Lock* lock);
extern "C" void seqtrain_wait(Condition* condition, Lock* lock) __asm__("__wrap_" SEQTRAIN_WAIT);

void seqtrain_wait(Condition* condition, Lock* lock) {
  seqtrain_older_wait(condition, lock);
}
