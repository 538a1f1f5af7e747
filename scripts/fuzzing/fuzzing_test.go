package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// TestTargets: those of the source are found, and such as share a name are two.
func TestTargets(t *testing.T) {
	t.Chdir("../..")
	all, err := targets(t.Context())
	if err != nil || len(all) < 43 || !slices.Contains(all, target{"gitstore/objects", "FuzzPack"}) || !slices.Contains(all, target{"sessions/codex", "FuzzRewrite"}) {
		t.Errorf("found %v, %v", all, err)
	}
}

// TestSaid: what `go test` says is read: how many inputs were tried, and whether
// one failed or the time was over.
func TestSaid(t *testing.T) {
	const tried = "fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed\nfuzz: elapsed: 3s, execs: 40304 (13431/sec), new interesting: 104 (total: 108)\nfuzz: elapsed: 4s, execs: 40400 (0/sec), new interesting: 104 (total: 108)\n"
	for said, want := range map[string]struct {
		execs int
		cut   bool
	}{
		"":    {0, false},
		tried: {40400, false},
		tried + "--- FAIL: FuzzX (3.20s)\n    context deadline exceeded\nFAIL\n":                                               {40400, true},
		tried + "--- FAIL: FuzzX (3.20s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n":          {40400, false},
		tried + "    x_test.go:9: context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzX/1\nFAIL\n":       {40400, false},
		tried + "    context deadline exceeded\n    panic: index out of range\n    Failing input written to testdata/fuzz/X\n": {40400, false},
	} {
		if execs(said) != want.execs || cutShort(said) != want.cut {
			t.Errorf("%q: %d inputs, cut short %v", said, execs(said), cutShort(said))
		}
	}
}

// TestTally: a run goes on with the counts of the one before, and says them once
// each target was tried.
func TestTally(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "tally")
	all := []target{{"gitstore", "FuzzPack"}, {"missions", "FuzzConfig"}}
	for n, one := range []target{all[0], all[0], all[1]} {
		counts := tally{}
		if err := lab.ReadTally(keep, &counts); err != nil {
			t.Fatal(err)
		}
		if counts.cover(all) {
			t.Errorf("before run %d all were tried: %v", n, counts)
		}
		counts.add(one, count{Execs: 10, Lasted: time.Hour})
		if err := lab.KeepTally(keep, counts); err != nil {
			t.Fatal(err)
		}
	}
	counts := tally{}
	if err := lab.ReadTally(keep, &counts); err != nil || !counts.cover(all) {
		t.Errorf("%v, %v", counts, err)
	}
	text := counts.summary(all, time.Now())
	if !strings.Contains(text, "2 targets, 3.0 hours together, 30 inputs") || !strings.Contains(text, "| `FuzzPack` | gitstore | 20 | 2h0m0s |") {
		t.Errorf("the summary is\n%s", text)
	}
}

// TestRun: what cannot be done is refused, and a run that was ended begins nothing.
func TestRun(t *testing.T) {
	t.Chdir("../..")
	var out strings.Builder
	for _, args := range [][]string{{"FuzzNothing"}, {"--each", "0s"}, {"--workers", "0"}, {"--tally", "go.mod"}} {
		if err := run(t.Context(), nil, args, &out); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	ended := make(chan struct{})
	close(ended)
	out.Reset()
	if err := run(t.Context(), ended, nil, &out); err != nil || strings.Contains(out.String(), ", 1m0s") || !strings.Contains(out.String(), " 0 inputs") {
		t.Errorf("a run that was ended: %v\n%s", err, &out)
	}
}

// TestTallyIsKept: what was tried before a target fails counts in the next run.
func TestTallyIsKept(t *testing.T) {
	t.Chdir("../..")
	bin := t.TempDir()
	program := "#!/bin/sh\n[ -e " + bin + "/tried ] && exit 1\n: >" + bin + "/tried\necho 'fuzz: elapsed: 3s, execs: 7 (2/sec)'\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	keep := filepath.Join(bin, "tally")
	if err := run(t.Context(), nil, []string{"--tally", keep, "FuzzCut", "FuzzPack"}, &strings.Builder{}); err == nil {
		t.Error("a target that fails is no error")
	}
	counts, tried := tally{}, 0
	if err := lab.ReadTally(keep, &counts); err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		tried += c.Execs
	}
	if tried != 7 {
		t.Errorf("the tally is %v", counts)
	}
}
