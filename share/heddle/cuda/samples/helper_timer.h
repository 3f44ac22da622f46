/* SPDX-License-Identifier: Apache-2.0 */
/* Stop watches of CUDA's samples: time on the host. */
#ifndef HEDDLE_CUDA_HELPER_TIMER_H
#define HEDDLE_CUDA_HELPER_TIMER_H
#pragma GCC system_header

#include <stddef.h>
#include <time.h>

class StopWatchInterface {
    double begun = 0, total = 0;
    unsigned int laps = 0;
    bool runs = false;
    static double now()
    {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
    }

  public:
    void start() { begun = now(), runs = true; }
    void stop()
    {
        if (runs)
            total += now() - begun, laps++;
        runs = false;
    }
    void reset() { total = 0, laps = 0, begun = now(); }
    float getTime() const { return (float)(runs ? total + now() - begun : total); }
    float getAverageTime() const { return laps ? (float)(total / laps) : 0; }
};
typedef StopWatchInterface StopWatchLinux;

inline bool sdkCreateTimer(StopWatchInterface **timer) { return (*timer = new StopWatchInterface()) != NULL; }
inline bool sdkDeleteTimer(StopWatchInterface **timer)
{
    delete *timer;
    *timer = NULL;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface **timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface **timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface **timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface **timer) { return (*timer)->getAverageTime(); }

#endif
