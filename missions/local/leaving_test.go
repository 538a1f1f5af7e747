package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/umbra-vcs/umbra/missions"
)

// TestSecretFilesDoNotLeave: a file with the name of a secret, which a snapshot holds since
// the user's Git does, is found by its name, once, whatever is in it. So is one that is only
// staged. A presentation with the name of a key is none, nor is a link.
func TestSecretFilesDoNotLeave(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.git("init", "-q")
	for name, content := range map[string]string{
		"conf/.npmrc": "registry=https://npm.example.com\n", "talk.key": "PK\x03\x04", "empty.pem": "", "a.txt": "one\n",
	} {
		c.write(name, content)
	}
	if err := os.Symlink("talk.key", filepath.Join(c.dir, "link.pem")); err != nil {
		t.Fatal(err)
	}
	c.git("add", ".")
	c.git("commit", "-q", "-m", "first")
	for _, name := range []string{"staged.pem", "conf/.pypirc"} { // the second is in a snapshot too
		c.write(name, "of "+name)
		c.git("add", name)
	}
	if err := os.Remove(filepath.Join(c.dir, "staged.pem")); err != nil {
		t.Fatal(err)
	}
	c.testBench.mission("work")
	r := c.push()
	push := missions.PushRequest{Caller: c.caller()}
	want := map[string]bool{"conf/.npmrc": true, "conf/.pypirc": true, "staged.pem": true}
	for _, f := range r.Findings {
		if !want[f.Path] || f.Rule != "secret-file" || !strings.HasPrefix(f.Moment, "work@") || r.IsWhole() {
			t.Errorf("found %+v", f)
		}
		delete(want, f.Path)
		push.Allow = append(push.Allow, f.Rule+":"+f.Fingerprint)
	}
	if len(want) > 0 {
		t.Fatalf("not found: %v", want)
	}
	if r, err := c.local.Push(t.Context(), push); err != nil || !r.IsWhole() {
		t.Errorf("what was allowed: %+v %v", r, err)
	}
	c.write("conf/.npmrc", "registry=https://other.example.com\n")
	c.snapshot("changed")
	if r := c.push(); !r.IsWhole() {
		t.Errorf("what was allowed, with other content: %+v", r)
	}
	c.healthy()
}

// TestProjectSecretsDoNotLeave: what a project file calls a secret, after a snapshot has taken it
// in, is found too. Nothing leaves while that file can't be read.
func TestProjectSecretsDoNotLeave(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.write("conf/pass.txt", "hunter2\n")
	c.testBench.mission("work")
	c.write(".umbra.yml", "capture: [\n")
	_, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller()})
	c.fails("push with a torn project file", err, missions.KindUsage)
	file := filepath.Join(t.TempDir(), "work.umbra")
	_, err = c.local.Export(t.Context(), missions.ExportRequest{Caller: c.caller(), Moments: []string{"work"}, File: file})
	c.fails("export with a torn project file", err, missions.KindUsage)
	c.write(".umbra.yml", "capture:\n  secrets: [pass.txt]\n")
	r := c.push()
	if len(r.Findings) != 1 || r.Findings[0].Path != "conf/pass.txt" || r.Findings[0].Rule != "secret-file" {
		t.Errorf("found %+v", r.Findings)
	}
	if out := c.remoteGit("for-each-ref"); out != "" {
		t.Errorf("sent all the same: %s", out)
	}
	c.healthy()
}

// TestSecretsInUTF16DoNotLeave: a text in UTF-16, of either order, is looked through like any.
func TestSecretsInUTF16DoNotLeave(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	const drawn = "9aKc3Zp7Qw1Xr5Tn8Yb2Lm6Vd4Hs0JfGe3U"
	want := map[string]bool{}
	for name, order := range map[string]unicode.Endianness{"little.txt": unicode.LittleEndian, "big.txt": unicode.BigEndian} {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String("größer 漢字\r\ntoken ghp_" + drawn + name[:1] + "\r\n")
		if err != nil {
			t.Fatal(err)
		}
		c.write(name, text)
		want[name] = true
	}
	c.write("sound.bin", "\xff\xfe\x00\x00\x01\x00ghp_"+drawn+"x")
	c.testBench.mission("work")
	for _, f := range c.push().Findings {
		if !want[f.Path] {
			t.Errorf("found %+v", f)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("nothing was found in %v", want)
	}
}
