package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// about says on what, when and with what something was measured.
type about struct {
	date     string
	machine  string
	place    string
	versions []string
	notes    []string
}

func describe(ctx context.Context, b *bench) about {
	a := about{date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), place: b.Stage.Where}
	a.machine = fmt.Sprintf("%s, %d processors, %s of memory, %s %s", processor(), runtime.NumCPU(), memory(), runtime.GOOS, said(ctx, "uname", "-r"))
	a.versions = []string{
		"umbra at commit " + said(ctx, "git", "-C", b.Top, "describe", "--always", "--dirty", "--exclude=*"),
		runtime.Version(), said(ctx, "git", "version"), said(ctx, "cp", "--version"),
	}
	if jj := said(ctx, "jj", "--version"); jj != "" {
		a.notes = append(a.notes, "Not measured: "+jj+", for which there is no measurement yet.")
	} else {
		a.notes = append(a.notes, "Not measured: jj, which is not on PATH.")
	}
	if b.quick {
		a.notes = append(a.notes, "A quick run: few samples, and T10k stands in for T100k.")
	}
	return a
}

func (a about) text() string {
	lines := []string{
		"Measured " + a.date + " on " + a.machine + "; " + a.place + ".",
		"Versions: " + strings.Join(a.versions, ", ") + ".",
	}
	return strings.Join(append(lines, a.notes...), " ") + "\n"
}

// said is the first line that a command prints, "" if it can't be run.
func said(ctx context.Context, args ...string) string {
	_, out, err := lab.Command{Args: args, Env: os.Environ()}.Run(ctx)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// processor is the machine's, as Linux names it.
func processor() string { return field("/proc/cpuinfo", "model name", runtime.GOARCH) }

func memory() string {
	kib := strings.TrimSuffix(field("/proc/meminfo", "MemTotal", ""), " kB")
	var n int64
	if _, err := fmt.Sscan(kib, &n); err != nil {
		return "unknown size"
	}
	return fmt.Sprintf("%d GiB", (n+1<<19)>>20)
}

// field is the value of the first line of a file that begins with a name.
func field(file, name, otherwise string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return otherwise
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}
