package hazards_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestLibraries shows what go-git's porcelain does to workspaces, refs and
// readers, and what urfave/cli makes of command lines.
func TestLibraries(t *testing.T) {
	program := filepath.Join(t.TempDir(), "naive")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "naive"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	naive := func(args ...string) (string, error) {
		out, err := exec.Command(program, args...).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	t.Run("flags", func(t *testing.T) {
		late, err := naive("flags", "one@5", "--name", "x")
		hazards.Shown(t, hazards.H34, err == nil && late == "name= env= args=one@5|--name|x", "urfave/cli takes flags after the first argument for arguments, without a word")
		plain, err1 := naive("flags", "vim")
		dashed, err2 := naive("flags", "--", "vim")
		split, err3 := naive("flags", "--env", "A=1,B=2", "x")
		hazards.Shown(t, hazards.H38, err1 == nil && err2 == nil && err3 == nil && plain == dashed && split == "name= env=A=1|B=2 args=x", "urfave/cli gives `-- vim` and `vim` alike, and splits `A=1,B=2` in two")
	})
	t.Run("checkout", func(t *testing.T) {
		dir := repository(t)
		first := git(t, dir, "rev-parse", "HEAD")
		write(t, dir, "a.txt", "two\n")
		write(t, dir, ".gitignore", "secret.env\nnode_modules/\n")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", "two")
		write(t, dir, "secret.env", "KEY=1\n")
		write(t, dir, "node_modules/x/index.js", "x\n")
		write(t, dir, "notes.txt", "never added\n")
		if out, err := naive("checkout", dir, first); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		hazards.Shown(t, hazards.H6, !there(dir, "secret.env") && !there(dir, "node_modules/x/index.js") && !there(dir, "notes.txt"),
			"go-git's `Checkout` with force deletes untracked and ignored files")
	})
	t.Run("init", func(t *testing.T) {
		work := t.TempDir()
		_, err := naive("init", work, filepath.Join(t.TempDir(), "shadow.git"))
		wrote := there(work, ".git")
		_, again := naive("init", repository(t), filepath.Join(t.TempDir(), "shadow.git"))
		hazards.Shown(t, hazards.H32, err == nil && wrote && again != nil, "go-git's `Init` with a worktree writes a `.git` file into it, and fails where there is a `.git`")
	})
	t.Run("status", func(t *testing.T) {
		dir, home := repository(t), t.TempDir()
		write(t, home, ".config/git/ignore", "*.swp\n")
		write(t, dir, "a.swp", "x")
		cmd := exec.Command(program, "status", dir)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=")
		out, err := cmd.CombinedOutput()
		hazards.Shown(t, hazards.H33, err == nil && strings.Contains(string(out), "a.swp"), "go-git's `Status` takes what the user's global excludes ignore for untracked")
	})
	t.Run("refs", func(t *testing.T) {
		dir := repository(t)
		id := git(t, dir, "rev-parse", "HEAD")
		torn := false
		for round := 0; round < 200 && !torn; round++ {
			killedAfter(t, time.Duration(1+round%7)*time.Millisecond, program, "update", dir, id)
			value, err := os.ReadFile(filepath.Join(dir, ".git/refs/agents/one"))
			torn = err == nil && len(value) == 0
		}
		out, err := naive("refs", dir)
		hazards.Shown(t, hazards.H31, torn && (err != nil || !strings.Contains(out, "refs/heads/main")), "go-git's ref update, killed, leaves an empty ref, after which it lists no ref at all")
	})
	t.Run("read", func(t *testing.T) {
		dir := repository(t)
		id := git(t, dir, "rev-parse", "HEAD")
		git(t, dir, "repack", "-adq")
		cmd := exec.Command(program, "read", dir, id)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(out)
		ask := func() string {
			if _, err := in.Write([]byte("\n")); err != nil {
				t.Fatal(err)
			}
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			return line
		}
		before := ask()
		write(t, dir, "b.txt", "b\n")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", "two")
		git(t, dir, "repack", "-adq")
		after := ask()
		_ = in.Close()
		_ = cmd.Wait()
		hazards.Shown(t, hazards.H39, before == "<nil>\n" && after != "<nil>\n", "go-git does not find an object any more once another process has repacked")
	})
}

// killedAfter runs a command until it has said something and some time more.
func killedAfter(t *testing.T, after time.Duration, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	<-time.After(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := hazards.Git(dir, append([]string{"-c", "user.name=T", "-c", "user.email=t@t"}, args...)...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// repository has one commit of one file.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, "a.txt", "one\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	return dir
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func there(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}
