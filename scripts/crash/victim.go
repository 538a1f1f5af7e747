package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A death says how a process is killed: at a failpoint, or after a time; or which
// of its file-system calls fails, or how little room it has, and it lives on; or
// that nothing happens to it, if it is the zero value.
type death struct {
	point string
	pass  int           // the how-manieth time that the point is come to, from 1
	after time.Duration // 0: not by the clock
	brood bool          // with the children that it has started; else they live on
	fault faults.Fault
	woken bool // the call fails once the process is woken, else from its start
	room  room // what is left of a small disk
}

func (d death) String() string {
	how := "alive"
	switch {
	case d.point != "":
		how = fmt.Sprintf("killed at %s:%d", d.point, d.pass)
	case d.after > 0:
		how = "killed after " + d.after.String()
	case d.fault != (faults.Fault{}):
		how = d.fault.String()
	case d.room != (room{}):
		how = d.room.String()
	}
	if d.brood {
		how += ", its children too"
	}
	return how
}

// fails says that the process lives, and that something fails for it.
func (d death) fails() bool { return d.fault != (faults.Fault{}) || d.room != (room{}) }

// plain checks what a command says for which something failed.
func (d death) plain(f fate) error {
	if d.room != (room{}) {
		return d.room.plain(f)
	}
	return plainFault(d.fault, f)
}

// env arms the process, and has it write down the points that it passes in log.
func (d death) env(log string) []string {
	if d.fails() {
		return nil // the calls that write it down are none of umbra's
	}
	list := []string{"UMBRA_FAILPOINT_LOG=" + log}
	if d.point != "" {
		list = append(list, fmt.Sprintf("UMBRA_FAILPOINT=%s:%d", d.point, d.pass))
	}
	return list
}

// fate is what became of a process.
type fate struct {
	killed bool
	code   int
	out    string
	said   string              // on the error output
	hit    bool                // the call failed that was to
	at     string              // the file of that call
	calls  map[faults.Spot]int // file-system calls, where one was to fail
}

func (f fate) String() string {
	if f.killed {
		return "killed; it said " + f.said
	}
	return fmt.Sprintf("exit code %d, %s%s", f.code, f.said, f.out)
}

// leftTitles are the lines after which a command lists the paths that it has left.
var leftTitles = []string{"did not come along, or not as it was:", "left as they are:"}

// leftPath is a path that a command has left as it was, or a directory, "d/", for so many
// paths in it.
type leftPath struct {
	path  string
	count int
}

// left are the paths that the process says it has left as they were.
func (f fate) left() []string {
	var list []string
	for _, l := range f.leftPaths() {
		list = append(list, l.path)
	}
	return list
}

func (f fate) leftPaths() []leftPath {
	var list []leftPath
	listing := false
	for line := range strings.Lines(f.out + "\n" + f.said) {
		line = strings.TrimRight(line, "\n")
		path, listed := strings.CutPrefix(line, "  ")
		if listing = listing && listed || slices.Contains(leftTitles, line); listing && listed {
			path, why, _ := strings.Cut(path, "  ")
			left := leftPath{path: path}
			if strings.HasSuffix(path, "/") {
				_, _ = fmt.Sscanf(why, "%d paths in it:", &left.count)
			}
			list = append(list, left)
		}
	}
	return list
}

// victim is a process that runs and may be killed.
type victim struct {
	cmd       *exec.Cmd
	death     death
	out, said bytes.Buffer
	timer     *time.Timer
	ended     chan struct{}
	waited    error
	injector  *faults.Injector // nil: no call fails
}

// begin starts a command that is to die so.
func begin(ctx context.Context, c lab.Command, d death, log string) (*victim, error) {
	v := &victim{cmd: exec.CommandContext(ctx, c.Args[0], c.Args[1:]...), death: d, ended: make(chan struct{})}
	v.cmd.Dir, v.cmd.Env = c.Dir, append(slices.Clone(c.Env), d.env(log)...)
	v.cmd.Stdout, v.cmd.Stderr = &v.out, &v.said
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	v.cmd.WaitDelay = 5 * time.Second // for children that hold the output
	if c.Stdin != nil {
		v.cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	err := error(nil)
	if d.fault == (faults.Fault{}) {
		err = v.cmd.Start()
	} else {
		v.injector, err = faults.Inject(v.cmd, filepath.Dir(log), d.fault, placeOf, d.woken)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", strings.Join(c.Args, " "), err)
	}
	if d.after > 0 {
		v.timer = time.AfterFunc(d.after, v.kill)
	}
	go func() {
		v.waited = v.cmd.Wait()
		close(v.ended)
	}()
	return v, nil
}

// kill kills it, and with it the children if it is to take them along.
func (v *victim) kill() {
	_ = v.cmd.Process.Kill()
	v.killBrood()
}

func (v *victim) killBrood() {
	if v.death.brood {
		_ = syscall.Kill(-v.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// dead reports whether it has ended.
func (v *victim) dead() bool {
	select {
	case <-v.ended:
		return true
	default:
		return false
	}
}

// dies reports whether it has ended, or does in a moment: a process that dies has
// closed its socket before it can be waited for.
func (v *victim) dies() bool {
	select {
	case <-v.ended:
		return true
	case <-time.After(patience.Of(time.Minute)):
		return false
	}
}

// wait waits for its end.
func (v *victim) wait() (fate, error) {
	<-v.ended
	if v.timer != nil {
		v.timer.Stop()
	}
	f := fate{out: strings.TrimSpace(v.out.String()), said: strings.TrimSpace(v.said.String())}
	var exit *exec.ExitError
	switch {
	case v.waited == nil || errors.Is(v.waited, exec.ErrWaitDelay):
	case errors.As(v.waited, &exit):
		status, ok := exit.Sys().(syscall.WaitStatus)
		f.killed = ok && status.Signaled() && status.Signal() == syscall.SIGKILL
		f.code = exit.ExitCode()
	default:
		return f, v.waited
	}
	if f.killed {
		v.killBrood()
	}
	if v.injector == nil {
		return f, nil
	}
	err := v.injector.End()
	f.hit, f.calls = v.injector.Hit, v.injector.Calls
	if f.hit {
		f.at = v.injector.At
	}
	return f, err
}

// passed reads which points were written down, and how often each.
func passed(log string) (map[string]int, error) {
	text, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read what was passed: %w", err)
	}
	count := map[string]int{}
	for name := range strings.FieldsSeq(string(text)) {
		count[name]++
	}
	return count, nil
}
