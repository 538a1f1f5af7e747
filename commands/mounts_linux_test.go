package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// apart runs a script of the shell in a mount namespace of its own, as a sandbox
// has one: what it mounts nobody else sees. It reports false where no test may
// mount anything. Inside, refused COMMAND… is a
// command that fails with words about a workspace that is not the one it was.
func (p *person) apart(script string) bool {
	p.Helper()
	const functions = "set -eu\nmount --make-rprivate / || { echo 'no mounts here'; exit 99; }\n" +
		"refused() { if \"$@\" >\"$OUT\" 2>&1; then echo \"$* did not fail\"; exit 1; fi; grep -q 'moved or not visible' \"$OUT\" || { cat \"$OUT\"; exit 1; }; }\n"
	cmd := exec.Command("sh", "-c", functions+script)
	cmd.Dir, cmd.Env = p.work, append(slices.Clone(p.env), "WORK="+p.work, "OUT="+filepath.Join(p.base, "out"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "no mounts here") || cmd.Process == nil {
		return false
	}
	if err != nil {
		p.Errorf("%v\n%s", err, out)
	}
	return true
}

// TestAnotherMountNamespace works from within a sandbox beside a daemon that is
// not in it: by the workspace's own path, by another one that leads to it, where
// something else is mounted over it, and where Umbra's home is another.
func TestAnotherMountNamespace(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.must("mission", "new", "--no-launch", "--name", "one", "--", "true")
	p.must("daemon", "start")
	p.must("snapshot", "-m", "by the daemon")
	calltest.Must(t, os.Mkdir(p.work+".else", 0o700))
	possible := p.apart(`
umbra snapshot -m 'from inside'
umbra status | grep -q 'this process did the work'
mount --bind "$WORK" "$WORK.else"
cd "$WORK.else"
echo two >a.txt
umbra snapshot one -m 'by another path'
cd /
mount -t tmpfs none "$WORK"
cd "$WORK"
echo foreign >foreign.txt
refused umbra snapshot one
refused umbra restore one@start --yes
test "$(ls)" = foreign.txt
cd /
umount "$WORK"
mount -t tmpfs -o mode=700 none "$UMBRA_HOME"
cd "$WORK"
umbra log && exit 1
umbra daemon status | grep -q 'does not run'
`)
	hazards.Needs(t, hazards.H1, possible, "the right to mount in a namespace of its own")
	hazards.Held(t, hazards.H1, "beside a daemon outside, a sandbox takes snapshots itself, by whichever path leads to the workspace; what is mounted over it there is in no snapshot")
	p.write("b.txt", "three\n")
	p.must("snapshot", "-m", "by the daemon again")
	trees := p.linear("one")
	if len(trees) != 5 || trees[0] != p.tree(p.work) {
		t.Errorf("trees %v, on disk %s", trees, p.tree(p.work))
	}
	if got := p.shadow("show", "refs/heads/one~1:a.txt"); got != "two" {
		t.Errorf("what was written inside by another path: %q", got)
	}
	if got := p.shadow("log", "--format=%H", "refs/heads/one", "--", "foreign.txt"); got != "" {
		t.Errorf("what was mounted over the workspace is in %s", got)
	}
	p.well()
}

// TestWorkspaceMountedOver mounts something over a workspace that a daemon
// watches, in the daemon's own namespace.
func TestWorkspaceMountedOver(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.must("mission", "new", "--no-launch", "--name", "one", "--", "true")
	p.must("daemon", "stop")
	possible := p.apart(`
hook() { printf '{"hook_event_name":"%s",%s"session_id":"11111111-2222-4333-8444-555555555555","cwd":"%s"}' "$1" "$2" "$WORK" | umbra hook claude; }
umbra daemon run &
until umbra daemon status | grep -q 'running: pid'; do sleep 0.05; done
trap 'umbra daemon stop' EXIT
hook SessionStart '"source":"startup",'
hook UserPromptSubmit '"prompt":"live",'
echo two >a.txt
umbra snapshot one
mount -t tmpfs none "$WORK"
cd "$WORK"
echo foreign >foreign.txt
refused umbra snapshot one
refused umbra restore one@start --yes
umbra status >"$OUT"
grep -q 'one: its workspace .* was moved, replaced, mounted over or removed' "$OUT"
hook PreToolUse '"tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"x"},'
umbra status >"$OUT"
grep -q 'moved or not visible' "$OUT"
test "$(ls)" = foreign.txt
cd /
umount "$WORK"
cd "$WORK"
echo three >a.txt
umbra snapshot one
umbra snapshot live
`)
	hazards.Needs(t, hazards.H1, possible, "the right to mount in a namespace of its own")
	hazards.Held(t, hazards.H1, "something empty that is mounted over a workspace, while a daemon watches it, is never taken for the workspace")
	trees := p.linear("one")
	if len(trees) != 3 || trees[0] != p.tree(p.work) || p.linear("live")[0] != trees[0] {
		t.Errorf("trees %v and %v, on disk %s", trees, p.linear("live"), p.tree(p.work))
	}
	if got := p.shadow("log", "--all", "--format=%H", "--", "foreign.txt"); got != "" {
		t.Errorf("what was mounted over the workspace is in %s", got)
	}
	p.well()
}
