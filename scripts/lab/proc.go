package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Process is one that runs and is looked at from outside, by Linux's /proc.
type Process int

// ProcessesWith are the processes whose environment, as it was at their start, has
// a variable that begins so: NAME=VALUE and a zero byte for just that value.
func ProcessesWith(start string) (list []Process) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		env, _ := os.ReadFile(name) // of one that has just ended, or is another user's: none
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+start)) {
			list = append(list, Process(pid))
		}
	}
	return list
}

// Kill kills the ProcessesWith such an environment, and returns how many there were: one that
// was about to start another is followed by that one.
func Kill(start string) int {
	left := ProcessesWith(start)
	for _, p := range left {
		_ = syscall.Kill(int(p), syscall.SIGKILL) // it may have ended
	}
	return len(left)
}

// Resident is the memory it holds now, and Highest the most it ever held, both
// in bytes.
func (p Process) Resident() (int64, error) { return p.memory("VmRSS") }

// Highest is the most memory it ever held, in bytes.
func (p Process) Highest() (int64, error) { return p.memory("VmHWM") }

func (p Process) memory(field string) (int64, error) {
	text, err := os.ReadFile(p.file("status"))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", p, err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if name != field {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the memory of process %d: %w", p, err)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("read the memory of process %d: no field %s", p, field)
}

// CPU is the processor time of its threads that still run, by the scheduler's
// own count, which is exact where ticks are not.
func (p Process) CPU() (time.Duration, error) {
	tasks, err := filepath.Glob(p.file("task/*/schedstat"))
	if err != nil || len(tasks) == 0 {
		return 0, fmt.Errorf("process %d has no %s", p, p.file("task/*/schedstat"))
	}
	var total time.Duration
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if os.IsNotExist(err) {
			continue // a thread that has just ended
		}
		if err != nil {
			return 0, fmt.Errorf("read the time of process %d: %w", p, err)
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text) + " ")[0], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the time of process %d: %w", p, err)
		}
		total += time.Duration(ns)
	}
	return total, nil
}

// Stopped waits until every thread of a process that was sent SIGSTOP has heard
// of it.
func (p Process) Stopped(ctx context.Context) error {
	for {
		tasks, err := filepath.Glob(p.file("task/*/stat"))
		if err != nil || len(tasks) == 0 {
			return fmt.Errorf("process %d has no %s", p, p.file("task/*/stat"))
		}
		stopped := 0
		for _, task := range tasks {
			// The state comes after the name, which is in parentheses (proc(5)).
			if text, err := os.ReadFile(task); err == nil && strings.HasPrefix(string(text[bytes.LastIndexByte(text, ')')+1:]), " T") {
				stopped++
			}
		}
		if stopped == len(tasks) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d goes on: %w", p, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// Pause is longer than a daemon waits, with nothing to do, before it does what is
// left for such moments.
const Pause = 12 * time.Second

// Rest waits until the process has no child and takes less than one part in a
// thousand of a processor over that time, or a minute at most.
func (p Process) Rest(ctx context.Context, over time.Duration) error {
	for began := time.Now(); time.Since(began) < time.Minute; {
		used, err := p.During(ctx, over)
		if err != nil || used <= over/1000 && !p.parent() {
			return err
		}
	}
	return nil
}

// parent reports whether the process has children.
func (p Process) parent() bool {
	tasks, _ := filepath.Glob(p.file("task/*/children"))
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil && len(bytes.TrimSpace(text)) > 0 {
			return true
		}
	}
	return false
}

// During is the processor time that the process takes in the time to come.
func (p Process) During(ctx context.Context, d time.Duration) (time.Duration, error) {
	before, err := p.CPU()
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(d):
	}
	after, err := p.CPU()
	return after - before, err
}

func (p Process) file(name string) string {
	return filepath.Join("/proc", strconv.Itoa(int(p)), name)
}
