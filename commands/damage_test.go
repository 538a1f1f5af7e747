package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// damaged is a home with a mission of some snapshots, made by the program, which
// is damaged in one way after the other.
type damaged struct {
	*testing.T
	home, work, shadow string
	env                []string
	ids                []string            // of the snapshots, the oldest first
	files              []map[string]string // of each
}

// run runs umbra, and gives its output and exit code.
func (d *damaged) run(args ...string) (string, int) {
	d.Helper()
	cmd := exec.Command("umbra", args...)
	cmd.Dir, cmd.Env = d.work, d.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	d.must(err)
	return string(out), 0
}

func (d *damaged) ok(args ...string) string {
	d.Helper()
	out, code := d.run(args...)
	if code != 0 {
		d.Fatalf("umbra %v: %d\n%s", args, code, out)
	}
	return out
}

func (d *damaged) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *damaged) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", d.shadow}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// take writes files and takes a snapshot.
func (d *damaged) take(files map[string]string) {
	d.Helper()
	for name, content := range files {
		path := filepath.Join(d.work, name)
		d.must(os.MkdirAll(filepath.Dir(path), 0o755))
		d.must(os.WriteFile(path, []byte(content), 0o644))
	}
	if d.shadow == "" {
		d.ok("mission", "new", "--name", "work", "--no-launch", "--", "sh")
		found, err := filepath.Glob(filepath.Join(d.home, "projects/*/shadow.git"))
		if err != nil || len(found) != 1 {
			d.Fatal(found, err)
		}
		d.shadow = found[0]
	} else {
		d.ok("snapshot")
	}
	id, err := d.git("rev-parse", "work")
	d.must(err)
	d.ids, d.files = append(d.ids, id), append(d.files, d.present())
}

// present is what is in the workspace.
func (d *damaged) present() map[string]string {
	d.Helper()
	files := map[string]string{}
	d.must(filepath.WalkDir(d.work, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, d.work+"/")] = string(data)
		return err
	}))
	return files
}

func newDamaged(t *testing.T) *damaged {
	t.Helper()
	dir := t.TempDir()
	d := &damaged{T: t, home: filepath.Join(dir, "umbra"), work: filepath.Join(dir, "work")}
	d.env = []string{
		"HOME=" + dir, "UMBRA_HOME=" + d.home, "UMBRA_NO_DAEMON=1", "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8",
	}
	d.must(os.Mkdir(d.work, 0o755))
	many := map[string]string{}
	for i := range 50 {
		many[fmt.Sprintf("d%d/f%d", i%3, i)] = strings.Repeat(fmt.Sprintf("line of %d\n", i), i+1)
	}
	d.take(many)
	d.take(map[string]string{"one": "first\n"})
	d.take(map[string]string{"one": "second\n", "d1/f1": "changed\n"})
	return d
}

// object is the path of a loose object.
func (d *damaged) object(rev string) string {
	d.Helper()
	id, err := d.git("rev-parse", rev)
	d.must(err)
	return filepath.Join(d.shadow, "objects", id[:2], id[2:])
}

// offset is where an object begins in the pack of an index.
func (d *damaged) offset(idx, rev string) int {
	d.Helper()
	id, err := d.git("rev-parse", rev)
	d.must(err)
	file, err := os.Open(idx)
	d.must(err)
	defer file.Close()
	list := exec.Command("git", "show-index")
	list.Stdin = file
	out, err := list.Output()
	d.must(err)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); f[1] == id {
			at, err := strconv.Atoi(f[0])
			d.must(err)
			return at
		}
	}
	d.Fatalf("%s is not in %s", rev, idx)
	return 0
}

func (d *damaged) one(pattern string) string {
	d.Helper()
	found, err := filepath.Glob(filepath.Join(d.home, pattern))
	if err != nil || len(found) == 0 {
		d.Fatalf("no %s: %v", pattern, err)
	}
	return found[0]
}

// lines checks that what doctor says is said in lines for people, each with what
// to type.
func (d *damaged) lines(out string) {
	d.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		if strings.Contains(line, "fsck") {
			d.Errorf("raw: %s", line)
		}
		if strings.HasPrefix(line, "problem:") && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "  to mend it: ")) {
			d.Errorf("nothing to type: %s", line)
		}
	}
}

// TestDoctorFindsDamage makes each kind of damage that a killed process, a full
// disk or a rotten disk leaves. Doctor says it, mends it, and loses nothing that
// is intact: snapshots come back byte for byte.
func TestDoctorFindsDamage(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	backup := filepath.Join(t.TempDir(), "home")
	d.must(exec.Command("cp", "-a", d.home, backup).Run())
	pack := func(suffix string) func() string {
		return func() string { return d.one("projects/*/shadow.git/objects/pack/*" + suffix) }
	}
	in := func(name string) func() string { return func() string { return filepath.Join(d.shadow, name) } }
	ref := func(kind string) func() string {
		return func() string { return d.one("projects/*/shadow.git/refs/" + kind + "/*") }
	}
	object := func(rev string) func() string { return func() string { return d.object(rev) } }
	remove := func(path string) { d.must(os.Remove(path)) }
	change := func(fn func([]byte) []byte) func(string) {
		return func(path string) {
			data, err := os.ReadFile(path)
			d.must(err)
			d.must(os.Chmod(path, 0o600))
			d.must(os.WriteFile(path, fn(data), 0o600))
		}
	}
	truncate := change(func(data []byte) []byte { return data[:len(data)/2] })
	empty := change(func([]byte) []byte { return nil })
	spoil := func(data []byte, at, n int) []byte {
		data = bytes.Clone(data)
		for i := at; i < min(len(data), at+n); i++ {
			data[i] ^= 0x55
		}
		return data
	}
	garble := change(func(data []byte) []byte { return spoil(data, len(data)/2, 20) })
	// A pack has its objects in any order, and not all could be had again: one
	// that the workspace holds is spoilt.
	garblePacked := func(path string) {
		at := d.offset(strings.TrimSuffix(path, ".pack")+".idx", "work:d1/f49")
		change(func(data []byte) []byte { return spoil(data, at+6, 6) })(path)
	}
	for _, c := range []struct {
		what   string
		file   func() string
		damage func(string)
		silent bool // it is mended before anybody can see it
	}{
		{"object missing, in the workspace", object("work:d1/f1"), remove, false},
		{"object truncated, in the workspace", object("work:d1/f1"), truncate, false},
		{"object empty, in the workspace", object("work:d1/f1"), empty, false},
		{"object garbled, in the workspace", object("work:d1/f1"), garble, false},
		{"object missing", object("work~1:one"), remove, false},
		{"object garbled", object("work~1:one"), garble, false},
		{"pack garbled", pack(".pack"), garblePacked, false},
		{"index missing", pack(".idx"), remove, false},
		{"index garbled", pack(".idx"), garble, false},
		{"index truncated", pack(".idx"), truncate, false},
		{"index empty", pack(".idx"), empty, false},
		{"ref missing", ref("agents"), remove, false},
		{"ref truncated", ref("agents"), truncate, false},
		{"ref empty", ref("agents"), empty, false},
		{"ref garbled", ref("agents"), garble, false},
		{"records ref missing", ref("records"), remove, true},
		{"records ref garbled", ref("records"), garble, true},
		{"name missing", ref("heads"), remove, false},
		{"name garbled", ref("heads"), garble, false},
		{"packed-refs garbled", in("packed-refs"), func(path string) {
			d.must(os.WriteFile(path, []byte("# pack-refs with: peeled\nnonsense\n"), 0o600))
		}, false},
		{"HEAD missing", in("HEAD"), remove, false},
		{"HEAD empty", in("HEAD"), empty, false},
		{"HEAD garbled", in("HEAD"), garble, false},
		{"config missing", in("config"), remove, false},
		{"config empty", in("config"), empty, false},
		{"config truncated", in("config"), truncate, false},
		{"live state garbled", func() string {
			path := filepath.Join(d.home, "journal/live", filepath.Base(ref("agents")())+".log")
			d.must(os.MkdirAll(filepath.Dir(path), 0o700))
			d.must(os.WriteFile(path, []byte("no state of a mission\n"), 0o600))
			return path
		}, garble, false},
		{"journal entry without a document", func() string { return filepath.Join(d.home, "journal/operations/01234567-89ab-cdef-0123-456789abcdef") }, func(path string) {
			d.must(os.MkdirAll(path, 0o700))
			d.must(os.WriteFile(filepath.Join(path, "operation.json"), []byte("{"), 0o600))
		}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			d.T = t
			d.must(os.RemoveAll(d.home))
			d.must(exec.Command("cp", "-a", backup, d.home).Run())
			for name, content := range d.files[len(d.files)-1] {
				d.must(os.WriteFile(filepath.Join(d.work, name), []byte(content), 0o644))
			}
			c.damage(c.file())
			out, code := d.run("doctor")
			if (code != 13) != c.silent {
				t.Errorf("not found: %d\n%s", code, out)
			}
			d.lines(out)
			if out, code := d.run("doctor", "--fix"); code != 0 || strings.Contains(out, "mended:") == c.silent {
				t.Errorf("not mended: %d\n%s", code, out)
			}
			out, code = d.run("doctor")
			if code != 0 {
				t.Errorf("after mending: %d\n%s", code, out)
			}
			aside := filepath.Join(d.shadow, "umbra/damaged")
			_, err := os.Stat(aside)
			if told := strings.Contains(out, "rm -r "+aside+"\n"); told != (err == nil) || c.what == "pack garbled" && !told {
				t.Errorf("set aside: %v, and doctor says\n%s", err, out)
			}
			d.must(os.RemoveAll(aside)) // as it says
			if out, err := d.git("fsck", "--full", "--no-dangling"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			for i, id := range d.ids {
				d.ok("restore", id, "--all", "--force")
				for name, content := range d.files[i] {
					if got := d.present()[name]; got != content {
						t.Errorf("snapshot %d: %s is %q", i, name, got)
					}
				}
				if n := len(d.present()); n != len(d.files[i]) {
					t.Errorf("snapshot %d: %d files", i, n)
				}
			}
		})
	}
}
