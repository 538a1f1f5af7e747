package local

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestForkOfALink: a conversation that calls its workspace by the path of a
// symbolic link has, in a fork, nothing of that path, and the fork goes on when
// the link leads elsewhere.
func TestForkOfALink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.dir, link); err != nil {
		t.Fatal(err)
	}
	real := b.dir
	b.dir = link
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("please write "+real+"/a.txt", "a.txt", "one\n")
	result, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	fork := result.Missions[0]
	talk, err := os.ReadFile(fork.SessionPath)
	if err != nil || strings.Contains(string(talk), link) || strings.Contains(string(talk), real+"/") || !strings.Contains(string(talk), `"file_path":"`+fork.Workspace+`/a.txt"`) {
		t.Errorf("%v: the fork's conversation is\n%s", err, talk)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	m, err := b.local.MissionByID(fork.ID)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := b.local.OpenRecordedConversation(m.Project, m.Record)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if again, err := io.ReadAll(r); err != nil || string(again) != string(talk) {
		t.Errorf("without the link the fork's recorded conversation is %s, %v", again, err)
	}
	b.dir = real
	b.healthy()
}

func TestOtherName(t *testing.T) {
	t.Parallel()
	dir := projects.ResolveLinks(t.TempDir())
	for _, d := range []string{"ws/sub/deep", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "ws", "into": "ws/sub", "away": "other", "up": ".", "none": "nowhere", "sub": "ws/sub"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "ws")
	for path, want := range map[string][2]string{
		"link": {"link", "/new"}, "link/sub": {"link", "/new"}, "into": {"into", "/new/sub"}, "into/deep": {"into", "/new/sub"}, "sub": {"sub", "/new/sub"},
		"up/ws/sub": {"up/ws", "/new"}, "link/": {"link", "/new"},
		"ws": {}, "ws/sub": {}, "away": {}, "none": {}, "other": {}, "up": {},
	} {
		name, renamed := conversations.LinkName(dir+"/"+path, root, "/new")
		if want[0] != "" {
			want[0] = filepath.Join(dir, want[0])
		}
		if name != want[0] || renamed != want[1] {
			t.Errorf("%s is %q, to be %q; want %q", path, name, renamed, want)
		}
	}
	if name, _ := conversations.LinkName("", root, "/new"); name != "" {
		t.Errorf("no path is %s", name)
	}
}
