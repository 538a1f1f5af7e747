package commits

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// bench is a user's repository, and a shadow repository that has its files as they are on
// the disk.
type bench struct {
	*testing.T
	dir, home, shadow string
	environ           []string
	plan              missions.LandingPlan
	last              string // the newest tree
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, dir: filepath.Join(t.TempDir(), "work"), home: t.TempDir()}
	b.shadow = filepath.Join(b.home, "shadow.git")
	b.environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
	b.put("begun.txt", "begun\n")
	b.git("init", "-q", "-b", "main")
	b.git("config", "--global", "user.name", "Ada")
	b.git("config", "--global", "user.email", "ada@example.com")
	b.git("init", "-q", "--bare", b.shadow)
	if err := os.WriteFile(filepath.Join(b.shadow, "info", "attributes"), []byte("* -text -filter -ident\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.plan.Mission = missions.Mission{ID: "6f1c7c1e-0000-4000-8000-000000000000", Name: "login", Agent: "claude", Workspace: b.dir, ShadowRepo: b.shadow}
	return b
}

func (b *bench) in(dir string, args ...string) string {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, b.environ
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("git %v: %v\n%s%s", args, err, out, &said)
	}
	return strings.TrimSpace(string(out))
}

func (b *bench) git(args ...string) string { b.Helper(); return b.in(b.dir, args...) }

func (b *bench) put(name, content string) {
	b.Helper()
	place := filepath.Join(b.dir, name)
	err := os.MkdirAll(filepath.Dir(place), 0o755)
	if err == nil {
		err = os.WriteFile(place, []byte(content), 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// begin commits what is there, and takes the first snapshot.
func (b *bench) begin() {
	b.Helper()
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "first")
	b.last = b.snapshot()
}

// snapshot is a tree of the workspace, with the bytes of the disk.
func (b *bench) snapshot() string {
	b.Helper()
	shadow := []string{"--git-dir=" + b.shadow, "--work-tree=" + b.dir}
	b.git(append(shadow, "add", "-A", ".")...)
	return b.git(append(shadow, "write-tree")...)
}

// step ends a step: a turn, or with no key what others have done.
func (b *bench) step(key, title string) {
	b.Helper()
	tree := b.snapshot()
	s := missions.LandingStep{Key: key, Title: title, From: b.last, To: tree}
	out := b.git("--git-dir="+b.shadow, "diff-tree", "-r", "-z", "--no-renames", b.last, tree)
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		about := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		s.Changes = append(s.Changes, missions.LandingChange{Path: fields[i+1], From: stepFile(about[0], about[2]), To: stepFile(about[1], about[3])})
	}
	b.last, b.plan.Steps = tree, append(b.plan.Steps, s)
}

func stepFile(mode, blob string) missions.LandingFile {
	if mode == "000000" {
		return missions.LandingFile{}
	}
	return missions.LandingFile{Mode: mode, Blob: blob}
}

func (b *bench) open(change ...func(*Options)) (*Committer, error) {
	b.Helper()
	o := Options{Groups: EachTurn(b.plan), Environ: b.environ, Stderr: &bytes.Buffer{}, NoTrailers: true}
	for _, c := range change {
		c(&o)
	}
	work, err := Open(b.Context(), b.plan, o)
	if err == nil {
		b.Cleanup(func() { _ = work.Close() })
	}
	return work, err
}

func (b *bench) land(change ...func(*Options)) Result {
	b.Helper()
	work, err := b.open(change...)
	if err != nil {
		b.Fatal(err)
	}
	r, err := work.Make()
	if err != nil {
		b.Fatal(err)
	}
	if out := b.git("fsck", "--full", "--strict", "--no-dangling"); out != "" {
		b.Errorf("git fsck: %s", out)
	}
	return r
}

// refused expects that nothing lands, and that nothing is changed.
func (b *bench) refused(says string, change ...func(*Options)) *missions.Error {
	b.Helper()
	before := b.git("rev-parse", "HEAD") + b.git("status", "--porcelain") + b.git("for-each-ref")
	work, err := b.open(change...)
	if err == nil {
		_, err = work.Make()
	}
	e := missions.AsError(err)
	if err == nil || e.Kind != missions.KindConflict || !strings.Contains(e.Message, says) || e.Hint == "" {
		b.Errorf("refused: %v, want %q", err, says)
	}
	if after := b.git("rev-parse", "HEAD") + b.git("status", "--porcelain") + b.git("for-each-ref"); after != before {
		b.Errorf("it changed something all the same:\n%s\nwas\n%s", after, before)
	}
	return e
}

// turns are three turns with all that a user's git does to files.
func (b *bench) turns(after func(turn int)) {
	b.Helper()
	b.put("unix.txt", "one\r\ntwo\r\n")
	b.put("dos.bat", "rem two\r\n")
	b.put("big.bin", "a large file\n")
	b.put("secret.up", "quiet\n")
	b.put("run.sh", "#!/bin/sh\n")
	b.chmod("run.sh", 0o755)
	b.step("1", "add files")
	after(1)
	b.put("unix.txt", "one\r\nand a half\r\ntwo\r\n")
	b.put("crlf.txt", "kept\r\nas it is\r\nin the index\r\n")
	b.chmod("run.sh", 0o644)
	b.chmod("begun.txt", 0o755)
	b.remove("link")
	b.link("unix.txt", "link")
	b.put(".gitattributes", b.read(".gitattributes")+"*.new text eol=lf\n")
	b.put("a.new", "new\r\n")
	b.step("2", "change them")
	after(2)
	b.remove("dos.bat")
	b.remove("link")
	b.put("link/inside.txt", "a directory now\r\n")
	b.put("big.bin", "another large file\n")
	b.put("with space and ä.txt", "name\n")
	b.step("3", "remove some")
	after(3)
}

func (b *bench) chmod(name string, mode os.FileMode) {
	b.Helper()
	if err := os.Chmod(filepath.Join(b.dir, name), mode); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) link(target, name string) {
	b.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.Helper()
	if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// configure has the user's git change what it is given.
func (b *bench) configure(settings ...string) {
	b.Helper()
	for _, kv := range settings {
		key, value, _ := strings.Cut(kv, "=")
		b.git("config", key, value)
	}
	b.put("tools/up", "#!/bin/sh\ntr a-z A-Z\n")
	b.chmod("tools/up", 0o755)
	b.put("tools/point", "#!/bin/sh\necho version https://git-lfs.github.com/spec/v1\necho oid sha256:$(sha256sum | cut -d' ' -f1)\n")
	b.chmod("tools/point", 0o755)
	b.put(".gitattributes", "*.up filter=up\n*.bin filter=point -text\n*.bat -text\n*.txt text=auto\n")
	b.put("crlf.txt", "kept\r\nas it is\r\n")
	b.put("dos.bat", "rem one\r\n")
	b.link("begun.txt", "link")
}

// hook writes a hook of the user's.
func (b *bench) hook(name, script string) {
	b.Helper()
	place := filepath.Join(b.dir, ".git", "hooks", name)
	err := os.MkdirAll(filepath.Dir(place), 0o755)
	if err == nil {
		err = os.WriteFile(place, []byte("#!/bin/sh\n"+script), 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// files are the files of the repository and their sizes.
func (b *bench) files() map[string]int64 {
	b.Helper()
	all := map[string]int64{}
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[path] = info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return all
}
