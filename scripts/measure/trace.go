package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// calls are system calls that a process made, a line each as strace writes them.
type calls []string

// traced are the calls that are asked for.
const traced = "trace=fsync,fdatasync,sync,syncfs,sync_file_range,openat,openat2,open"

// trace runs a command under strace.
func trace(ctx context.Context, c lab.Command) (calls, error) {
	dir, err := os.MkdirTemp("", "umbra-trace-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "calls")
	c.Args = append([]string{"strace", "-f", "-qq", "-s", "512", "-e", traced, "-o", file}, c.Args...)
	if _, _, err := c.Run(ctx); err != nil {
		return nil, err
	}
	return readCalls(file)
}

func readCalls(file string) (calls, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read what strace wrote: %w", err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), nil
}

var (
	syncCall = regexp.MustCompile(`^(?:\d+ +)?(?:fsync|fdatasync|sync|syncfs|sync_file_range)\(`)
	openCall = regexp.MustCompile(`^(?:\d+ +)?(?:open|openat|openat2)\([^"]*"([^"]*)"`)
)

// syncs is how often something was made durable.
func (c calls) syncs() int {
	n := 0
	for _, call := range c {
		if syncCall.MatchString(call) {
			n++
		}
	}
	return n
}

// opened is how many different files of a tree were opened, by their names,
// which no other file has.
func (c calls) opened(t *tree) int {
	names := map[string]bool{}
	for i := range t.count {
		names[filepath.Base(t.files.Path(i))] = true
	}
	seen := map[string]bool{}
	for _, call := range c {
		if m := openCall.FindStringSubmatch(call); m != nil && names[filepath.Base(m[1])] {
			seen[filepath.Base(m[1])] = true
		}
	}
	return len(seen)
}

// tracer is strace attached to a process that runs.
type tracer struct {
	cmd  *exec.Cmd
	file string
	dir  string
}

// attach returns when the process is traced.
func attach(ctx context.Context, p lab.Process) (*tracer, error) {
	dir, err := os.MkdirTemp("", "umbra-trace-")
	if err != nil {
		return nil, err
	}
	t := &tracer{dir: dir, file: filepath.Join(dir, "calls")}
	t.cmd = exec.CommandContext(ctx, "strace", "-f", "-e", traced, "-o", t.file, "-p", strconv.Itoa(int(p)))
	said, err := t.cmd.StderrPipe()
	if err == nil {
		err = t.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "attached") {
		return nil, errors.Join(fmt.Errorf("strace said %q", line), t.cmd.Wait(), os.RemoveAll(dir))
	}
	go io.Copy(io.Discard, said)
	return t, nil
}

// detach lets the process go on alone and returns what it did meanwhile.
func (t *tracer) detach() (calls, error) {
	defer os.RemoveAll(t.dir)
	if err := t.cmd.Process.Signal(os.Interrupt); err != nil {
		return nil, err
	}
	_ = t.cmd.Wait() // it ends by the signal
	return readCalls(t.file)
}
