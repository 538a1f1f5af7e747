package databases

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"app.db":           {"app.db", ""},
		"data/app.db-wal":  {"data/app.db", Log},
		"app.db-journal":   {"app.db", Journal},
		"app.db-shm":       {"app.db", Index},
		"app.db-wal-shm":   {"app.db-wal", Index},
		"-wal":             {"-wal", ""},
		"data/-journal":    {"data/-journal", ""},
		"app.db-wal.txt":   {"app.db-wal.txt", ""},
		"app.db-wal/notes": {"app.db-wal/notes", ""},
	} {
		if name, end := Of(path); name != want[0] || end != want[1] {
			t.Errorf("%s: %q %q", path, name, end)
		}
	}
}

func TestIsDatabase(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]bool{0: false, 16: false, 512: true, 1000: false, 4096: true} {
		if CanBe(size) != want {
			t.Errorf("%d: %t", size, !want)
		}
	}
	for text, want := range map[string]bool{"SQLite format 3\x00\x10": true, "SQLite format 3": false, "SQLite format 4\x00": false, "": false} {
		if Begins([]byte(text)) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

func TestSpansSeveral(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		journalHead + "pages": false, journalHead + "pages/x/app.db-mj0" + journalHead: true,
		"\x00" + journalHead[1:] + "pages/x/app.db-mj0" + journalHead: false, "short": false, "": false,
	} {
		if SpansSeveral(strings.NewReader(text), int64(len(text))) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
	if !SpansSeveral(strings.NewReader("cut"), 512) {
		t.Error("a journal that can't be read")
	}
}
