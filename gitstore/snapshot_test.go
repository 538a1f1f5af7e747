package gitstore_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

func fullSnapshot() *gitstore.Snapshot {
	return &gitstore.Snapshot{Tree: storetest.ID(1), Parents: []gitstore.ID{storetest.ID(2)}, Author: storetest.Signature(1), At: storetest.Signature(2).When,
		Subject: "turn 7: fix the login · turn ended", State: "idle", Message: "turn ended", Trailers: gitstore.Trailers{Mission: storetest.Mission, Triggers: []string{"idle", "manual"}, Turn: 7, Prompt: "fix the login",
			Record: storetest.ID(3), Session: "s-1", GitHead: storetest.ID(4).String(), GitBranch: "feature/x", Skipped: 3, Late: true, Partial: true,
			RestoredFrom: storetest.ID(5), ForkedFrom: storetest.ID(6), PromotedFrom: storetest.ID(7)}}
}

func TestSnapshotRoundTrip(t *testing.T) {
	t.Parallel()
	want := fullSnapshot()
	c := gitstore.FormatSnapshot(want)
	data, err := gitstore.EncodeCommit(c)
	storetest.NoErr(t, err)
	parsed := storetest.Must[*gitstore.Commit](t)(gitstore.ParseCommit(data))
	got := gitstore.ParseSnapshot(parsed)
	if !got.At.Equal(want.At) || !got.Author.When.Equal(want.Author.When) {
		t.Errorf("times %v %v", got.At, got.Author.When)
	}
	got.At, got.Author.When = want.At, want.Author.When
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if want := "turn 7: fix the login · turn ended\n\nUmbra-Mission: " + storetest.Mission + "\nUmbra-State: idle\nUmbra-Message: turn ended\nUmbra-Trigger: idle manual\nUmbra-Turn: 7\nUmbra-Prompt: fix the login\n"; !strings.HasPrefix(c.Message, want) {
		t.Errorf("message %q", c.Message)
	}
}

func TestSnapshotTrailers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		want    gitstore.Trailers
	}{
		"last value counts":      {"idle: x\n\nUmbra-Turn: 1\nUmbra-Turn: 2\n", gitstore.Trailers{Turn: 2}},
		"not in the subject":     {"Umbra-Turn: 1\n", gitstore.Trailers{}},
		"not in the first lines": {"idle: x\nUmbra-Turn: 1\n", gitstore.Trailers{}},
		"not above the last":     {"idle: x\n\nUmbra-Turn: 1\n\nUmbra-Skipped: 2\n", gitstore.Trailers{Skipped: 2}},
		"not in prose":           {"idle: x\n\nUmbra-Turn: 1\nand more text\n", gitstore.Trailers{}},
		"nonsense":               {"idle: x\n\nUmbra-Turn: -4\nUmbra-Record: xyz\nUmbra-Late: maybe\n", gitstore.Trailers{}},
		"no body":                {"idle: x", gitstore.Trailers{}},
		"no head but an option":  {"idle: x\n\nUmbra-Git-Head: --output=/x\n", gitstore.Trailers{}},
		"a head":                 {"idle: x\n\nUmbra-Git-Head: " + storetest.ID(4).String() + "\n", gitstore.Trailers{GitHead: storetest.ID(4).String()}},
	} {
		if got := gitstore.ParseSnapshot(&gitstore.Commit{Message: c.message}).Trailers; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSubjectIsCleaned(t *testing.T) {
	t.Parallel()
	s := fullSnapshot()
	s.Subject = ""
	s.Message = "line one\nUmbra-Mission: forged\n\nUmbra-Turn: 99\x00\x1b[31m\u202ered " + strings.Repeat("ä", 200)
	s.GitBranch = "main\nUmbra-Turn: 98"
	s.Author.Name = "Evil <x@y>\ncommitter Mallory"
	s.Author.Email = ""
	data, err := gitstore.EncodeCommit(gitstore.FormatSnapshot(s))
	storetest.NoErr(t, err)
	got := gitstore.ParseSnapshot(storetest.Must[*gitstore.Commit](t)(gitstore.ParseCommit(data)))
	if got.Mission != storetest.Mission || got.Turn != 7 {
		t.Errorf("forged: %+v", got.Trailers)
	}
	subject, _, _ := strings.Cut(gitstore.FormatSnapshot(s).Message, "\n")
	if n := utf8.RuneCountInString(subject); n > 100 {
		t.Errorf("%d characters", n)
	}
	if got.Author.Name != "Evil x@ycommitter Mallory" || got.Author.Email != "umbra@localhost" {
		t.Errorf("author %+v", got.Author)
	}
}

func FuzzSnapshot(f *testing.F) {
	f.Add("idle", "fix it", "main", "A U Thor", "a@example.com", int64(1700000000))
	f.Add("running", "x\n\nUmbra-Mission: y\n", "b\r\nUmbra-Turn: 4", " <>\x00", "\xff", int64(-1))
	f.Fuzz(func(t *testing.T, state, message, branch, name, email string, at int64) {
		s := fullSnapshot()
		s.State, s.Message, s.GitBranch = state, message, branch
		s.Author = gitstore.Signature{Name: name, Email: email, When: time.Unix(at%(1<<40), 0)}
		data, err := gitstore.EncodeCommit(gitstore.FormatSnapshot(s))
		if err != nil {
			t.Fatal(err)
		}
		c, err := gitstore.ParseCommit(data)
		if err != nil {
			t.Fatal(err)
		}
		once := gitstore.ParseSnapshot(c)
		if once.Mission != storetest.Mission || once.Turn != 7 || once.Record != storetest.ID(3) || len(once.Parents) != 1 || once.Tree != storetest.ID(1) {
			t.Fatalf("forged: %+v from %q", once, data)
		}
		again, err := gitstore.EncodeCommit(gitstore.FormatSnapshot(once))
		if err != nil {
			t.Fatal(err)
		}
		c, err = gitstore.ParseCommit(again)
		if err != nil {
			t.Fatal(err)
		}
		twice := gitstore.ParseSnapshot(c)
		twice.ID, once.ID = gitstore.ID{}, gitstore.ID{}
		if state != "" && !reflect.DeepEqual(twice, once) {
			t.Fatalf("not stable:\n%+v\n%+v", once, twice)
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	data, err := gitstore.EncodeCommit(gitstore.FormatSnapshot(fullSnapshot()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := gitstore.ParseCommit(data); err == nil {
			gitstore.ParseSnapshot(c)
		}
	})
}

func FuzzParseTree(f *testing.F) {
	data, err := gitstore.EncodeTree([]gitstore.TreeEntry{{Name: "a", Mode: gitstore.ModeFile, ID: storetest.ID(1)}, {Name: "b", Mode: gitstore.ModeDir, ID: storetest.ID(2)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := gitstore.ParseTree(data)
		if err != nil {
			return
		}
		gitstore.SortEntries(entries)
		if out, err := gitstore.EncodeTree(entries); err == nil {
			if again, err := gitstore.ParseTree(out); err != nil || !reflect.DeepEqual(again, entries) && len(entries) > 0 {
				t.Fatalf("%q becomes %q", data, out)
			}
		}
	})
}

func FuzzQuotePath(f *testing.F) {
	f.Add("a b")
	f.Add("\"\\\t\xff")
	f.Fuzz(func(t *testing.T, path string) {
		quoted := gitstore.QuotePath(path)
		if quoted == path {
			return
		}
		if got, ok := gitstore.UnquoteC(quoted); !ok || got != path {
			t.Fatalf("%q becomes %q, then %q", path, quoted, got)
		}
	})
}
