// Picture draws the pictures of the timeline in the docs from the real screen: it
// lets umbra demo work in a temporary directory, opens the timeline there in tmux,
// types, and draws what the terminal shows as SVG.
//
//	go run ./scripts/picture [-out docs/pictures]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A scene is a picture: what is typed after the one before, and what is on the
// screen then, and was not before: text, or the codes of a colour.
type scene struct {
	name string
	keys []string
	want []string
}

var scenes = []scene{
	{"timeline", []string{"]", "]"}, []string{"> │▾ turn 2", "A greet_test.sh", "48;5;22"}},
	{"restore", []string{"Enter"}, []string{"enter does it"}},
}

// story is what the timeline says of the demo's mission.
const story = "turn 4  17 snapshots"

// errStory: the demo did not go as it should, which is for its own test to say.
var errStory = errors.New("the demo did not say " + story)

// The terminal's size.
const columns, lines = 132, 34

func main() {
	out := flag.String("out", filepath.Join("docs", "pictures"), "write them to `DIR`")
	flag.Parse()
	if err := draw(*out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// draw makes all scenes in a directory that is gone afterwards.
func draw(out string) (err error) {
	dir, err := os.MkdirTemp("/tmp", "picture-") // the home directory of whoever is in the picture
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin := filepath.Join(dir, "bin")
	if _, err := run(".", "go", "build", "-o", bin+"/", "."); err != nil {
		return err
	}
	s := &stage{socket: filepath.Join(dir, "tmux"), path: bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	if s.env, s.workspace, err = demo(dir, bin); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, sc := range scenes {
		screen, err := s.play(sc)
		if err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
		if err := os.WriteFile(filepath.Join(out, sc.name+".svg"), svg(screen, columns, lines), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// demo has the demo tell its story outside of any repository, and moves it to where a
// person might have it. It says where that is: the file that sets its environment, and
// the workspace.
func demo(dir, bin string) (env, workspace string, err error) {
	umbra := filepath.Join(bin, "umbra")
	cmd := exec.Command(umbra, "demo")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "NO_COLOR=1")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("umbra demo: %w\n%s", err, text)
	}
	said := regexp.MustCompile(`(?m)^  \. (\S+)\n  cd (\S+)$`).FindSubmatch(text)
	if said == nil {
		return "", "", fmt.Errorf("umbra demo does not say where it was:\n%s", text)
	}
	env, workspace = string(said[1]), filepath.Join(dir, "shop")
	_, err = run(dir, "sh", "-c", fmt.Sprintf(". %[1]s; mv %[2]s %[3]s && %[4]s project move %[2]s %[3]s", env, said[2], workspace, umbra))
	return env, workspace, err
}

// A stage is a terminal of tmux with the timeline in it.
type stage struct{ socket, path, env, workspace string }

func (s *stage) tmux(args ...string) (string, error) {
	return run(".", "tmux", append([]string{"-S", s.socket}, args...)...)
}

func (s *stage) open() error {
	line := fmt.Sprintf(". %s; PATH=%s; HOME=%s; cd %s; TERM=xterm-256color exec umbra timeline demo", s.env, s.path, filepath.Dir(s.workspace), s.workspace)
	if _, err := s.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "env", "LC_ALL=C.UTF-8", "sh", "-c", line); err != nil {
		return err
	}
	screen, err := s.sees([]string{"turn 1", "@@"})
	if err == nil && !strings.Contains(codes.ReplaceAllString(screen, ""), story) {
		return fmt.Errorf("%w:\n%s", errStory, screen)
	}
	return err
}

// play types, and gives the screen once it shows what it is to show.
func (s *stage) play(sc scene) (string, error) {
	for _, key := range sc.keys {
		if _, err := s.tmux("send-keys", key); err != nil {
			return "", err
		}
	}
	return s.sees(sc.want)
}

// codes are those of colours.
var codes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// sees waits until all of it is on the screen, nothing is being read, and the
// screen rests.
func (s *stage) sees(want []string) (string, error) {
	screen := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		before := screen
		var err error
		if screen, err = s.tmux("capture-pane", "-e", "-p"); err != nil {
			return "", err
		}
		shown := screen + codes.ReplaceAllString(screen, "")
		missing := slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(shown, w) })
		if !missing && screen == before && !strings.Contains(screen, "reading …") {
			return screen, nil
		}
	}
	return "", fmt.Errorf("%q is not on the screen:\n%s", want, screen)
}

// close ends the timeline and the demo's daemon.
func (s *stage) close() error {
	_, err := s.tmux("kill-server")
	_, stopped := run(".", "sh", "-c", fmt.Sprintf(". %s; PATH=%s; umbra daemon stop --quiet", s.env, s.path))
	return errors.Join(err, stopped)
}

func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, text)
	}
	return string(text), nil
}
