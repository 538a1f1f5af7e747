// Command cast records umbra demo as docs/demo.cast, for asciinema, and draws
// docs/demo.svg from that. With --svg it only draws. Paths are made short,
// pauses too, and there is time to read: what is shown is as the demo has printed
// it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

const (
	castFile = "docs/demo.cast"
	svgFile  = "docs/demo.svg"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "--svg" {
		return fmt.Errorf("usage: go run ./scripts/cast [--svg], at the top of the repository")
	}
	if len(args) == 0 {
		if err := record(); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(castFile)
	if err != nil {
		return err
	}
	events, err := parse(text)
	if err != nil {
		return err
	}
	return os.WriteFile(svgFile, draw(events), 0o644)
}

// demoPath is where the demo happens: another directory each time.
var demoPath = regexp.MustCompile(`/[^ \x1b]*/umbra-demo-\d+`)

// How a pause is bounded, and what is added to read a line and before a step, in
// seconds.
const longestPause, perLine, beforeStep = 1.5, 0.12, 1.5

var step = regexp.MustCompile(`^(\x1b\[[0-9;]*m)*\d+\.`)

// record builds umbra, runs the demo where no repository is, and writes each line
// with the time at which it came.
func record() error {
	dir, err := os.MkdirTemp("", "umbra-cast-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	umbra := filepath.Join(dir, "umbra")
	build := exec.Command("go", "build", "-o", umbra, ".")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build umbra: %w", err)
	}
	demo := exec.Command(umbra, "demo", "--color", "always")
	demo.Dir, demo.Stderr = dir, os.Stderr
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := demo.StdoutPipe()
	if err != nil {
		return err
	}
	if err := demo.Start(); err != nil {
		return err
	}
	events, err := listen(bufio.NewScanner(out))
	if err != nil {
		return err
	}
	if err := demo.Wait(); err != nil {
		return fmt.Errorf("umbra demo: %w", err)
	}
	return os.WriteFile(castFile, format(events), 0o644)
}

// event is a line that appears at a time, in seconds from the beginning.
type event struct {
	at   float64
	line string // with its colours, without its end
}

func listen(lines *bufio.Scanner) ([]event, error) {
	var events []event
	at, last := 0.0, time.Now()
	for lines.Scan() {
		pause := time.Since(last).Seconds()
		at, last = at+min(pause, longestPause)+perLine, time.Now()
		if step.MatchString(lines.Text()) {
			at += beforeStep
		}
		events = append(events, event{at, demoPath.ReplaceAllString(lines.Text(), "/tmp/demo")})
	}
	return events, lines.Err()
}

// columns and rows are the terminal's.
const columns, rows = 110, 32

// format writes an asciicast, version 2
// (docs.asciinema.org/manual/asciicast/v2).
func format(events []event) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"version": 2, "width": %d, "height": %d, "title": "umbra demo"}`+"\n", columns, rows)
	for _, e := range events {
		text, _ := json.Marshal(e.line + "\r\n") // a string can always be marshalled
		fmt.Fprintf(&b, "[%.3f, \"o\", %s]\n", e.at, text)
	}
	return b.Bytes()
}

// parse reads what format writes.
func parse(cast []byte) ([]event, error) {
	lines := bytes.Split(bytes.TrimSpace(cast), []byte("\n"))
	var events []event
	for n, line := range lines[1:] {
		var fields []any
		if err := json.Unmarshal(line, &fields); err != nil || len(fields) != 3 {
			return nil, fmt.Errorf("line %d of the cast is no event: %v", n+2, err)
		}
		at, timed := fields[0].(float64)
		text, said := fields[2].(string)
		if !timed || !said {
			return nil, fmt.Errorf("line %d of the cast is no event", n+2)
		}
		events = append(events, event{at, string(bytes.TrimSuffix([]byte(text), []byte("\r\n")))})
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("the cast is empty")
	}
	return events, nil
}
