package gitstore

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func fullSnapshot() *Snapshot {
	return &Snapshot{Tree: testID(1), Parents: []ID{testID(2)}, Author: testSignature(1), At: testSignature(2).When,
		State: "idle", Message: "fix the login", Trailers: Trailers{Mission: testMission, Triggers: []string{"idle", "manual"}, Turn: 7,
			Record: testID(3), Session: "s-1", GitHead: testID(4).String(), GitBranch: "feature/x", Skipped: 3, Late: true, Partial: true,
			RestoredFrom: testID(5), ForkedFrom: testID(6), PromotedFrom: testID(7)}}
}

func TestSnapshotRoundTrip(t *testing.T) {
	t.Parallel()
	want := fullSnapshot()
	c := FormatSnapshot(want)
	data, err := encodeCommit(c)
	noErr(t, err)
	parsed := must[*Commit](t)(parseCommit(data))
	got := ParseSnapshot(parsed)
	if !got.At.Equal(want.At) || !got.Author.When.Equal(want.Author.When) {
		t.Errorf("times %v %v", got.At, got.Author.When)
	}
	got.At, got.Author.When = want.At, want.Author.When
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if want := "idle: fix the login\n\nUmbra-Mission: " + testMission + "\nUmbra-State: idle\nUmbra-Trigger: idle manual\nUmbra-Turn: 7\n"; !strings.HasPrefix(c.Message, want) {
		t.Errorf("message %q", c.Message)
	}
}

func TestSnapshotTrailers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		want    Trailers
	}{
		"last value counts":      {"idle: x\n\nUmbra-Turn: 1\nUmbra-Turn: 2\n", Trailers{Turn: 2}},
		"not in the subject":     {"Umbra-Turn: 1\n", Trailers{}},
		"not in the first lines": {"idle: x\nUmbra-Turn: 1\n", Trailers{}},
		"not above the last":     {"idle: x\n\nUmbra-Turn: 1\n\nUmbra-Skipped: 2\n", Trailers{Skipped: 2}},
		"not in prose":           {"idle: x\n\nUmbra-Turn: 1\nand more text\n", Trailers{}},
		"nonsense":               {"idle: x\n\nUmbra-Turn: -4\nUmbra-Record: xyz\nUmbra-Late: maybe\n", Trailers{}},
		"no body":                {"idle: x", Trailers{}},
	} {
		if got := ParseSnapshot(&Commit{Message: c.message}).Trailers; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSubjectIsCleaned(t *testing.T) {
	t.Parallel()
	s := fullSnapshot()
	s.Message = "line one\nUmbra-Mission: forged\n\nUmbra-Turn: 99\x00\x1b[31m\u202ered " + strings.Repeat("ä", 200)
	s.GitBranch = "main\nUmbra-Turn: 98"
	s.Author.Name = "Evil <x@y>\ncommitter Mallory"
	s.Author.Email = ""
	data, err := encodeCommit(FormatSnapshot(s))
	noErr(t, err)
	got := ParseSnapshot(must[*Commit](t)(parseCommit(data)))
	if got.Mission != testMission || got.Turn != 7 {
		t.Errorf("forged: %+v", got.Trailers)
	}
	subject, _, _ := strings.Cut(FormatSnapshot(s).Message, "\n")
	if n := utf8.RuneCountInString(subject); n > maxSubject {
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
		s.Author = Signature{Name: name, Email: email, When: time.Unix(at%(1<<40), 0)}
		data, err := encodeCommit(FormatSnapshot(s))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parseCommit(data)
		if err != nil {
			t.Fatal(err)
		}
		once := ParseSnapshot(c)
		if once.Mission != testMission || once.Turn != 7 || once.Record != testID(3) || len(once.Parents) != 1 || once.Tree != testID(1) {
			t.Fatalf("forged: %+v from %q", once, data)
		}
		again, err := encodeCommit(FormatSnapshot(once))
		if err != nil {
			t.Fatal(err)
		}
		c, err = parseCommit(again)
		if err != nil {
			t.Fatal(err)
		}
		twice := ParseSnapshot(c)
		twice.ID, once.ID = ID{}, ID{}
		if state != "" && !reflect.DeepEqual(twice, once) {
			t.Fatalf("not stable:\n%+v\n%+v", once, twice)
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	data, err := encodeCommit(FormatSnapshot(fullSnapshot()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := parseCommit(data); err == nil {
			ParseSnapshot(c)
		}
	})
}

func FuzzPackedRefs(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + strings.Repeat("a", 40) + " refs/heads/x\n^" + strings.Repeat("b", 40) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parsePackedRefs(data)
		if len(p.bad) > 0 {
			return
		}
		again := parsePackedRefs(p.without("refs/none"))
		if len(again.bad) > 0 || len(p.lines) > 0 && !reflect.DeepEqual(again.lines, p.lines) {
			t.Fatalf("%q becomes %q", data, p.without("refs/none"))
		}
	})
}

func FuzzRefValue(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 40) + "\n"))
	f.Add([]byte("ref: refs/agents/" + testMission + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseRefValue(data)
		if err != nil {
			return
		}
		again, err := parseRefValue(v.encode())
		if err != nil || again != v {
			t.Fatalf("%q: %v, %v", data, again, err)
		}
	})
}

func FuzzParseTree(f *testing.F) {
	data, err := encodeTree([]TreeEntry{{Name: "a", Mode: ModeFile, ID: testID(1)}, {Name: "b", Mode: ModeDir, ID: testID(2)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			return
		}
		SortEntries(entries)
		if out, err := encodeTree(entries); err == nil {
			if again, err := parseTree(out); err != nil || !reflect.DeepEqual(again, entries) && len(entries) > 0 {
				t.Fatalf("%q becomes %q", data, out)
			}
		}
	})
}

func FuzzSegment(f *testing.F) {
	f.Add(appendFrame(segmentMagic(), testID(1), []byte("raw")))
	f.Fuzz(func(t *testing.T, data []byte) {
		end, err := readSegment(strings.NewReader(string(data)), func(id ID, raw []byte) error { return nil })
		if err != nil || end > int64(len(data)) {
			t.Fatalf("%d of %d: %v", end, len(data), err)
		}
	})
}

func FuzzQuotePath(f *testing.F) {
	f.Add("a b")
	f.Add("\"\\\t\xff")
	f.Fuzz(func(t *testing.T, path string) {
		quoted := QuotePath(path)
		if quoted == path {
			return
		}
		if got, ok := unquoteC(quoted); !ok || got != path {
			t.Fatalf("%q becomes %q, then %q", path, quoted, got)
		}
	})
}
