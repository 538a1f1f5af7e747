package webpage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestForeignText: nothing that an agent, a user or a file says is markup, or hides what it
// is.
func TestForeignText(t *testing.T) {
	t.Parallel()
	const evil = "</pre><script>alert(1)</script>\x1b[2J\u202e&amp;"
	p := New(evil)
	p.Heading(evil)
	p.Prompt(evil)
	p.Facts([2]string{evil, evil}, [2]string{"empty", ""})
	p.Table([][]string{{evil}, {evil}})
	p.List(evil, []string{evil})
	p.List("empty", nil)
	p.Conversation([]missions.ConversationLine{{Role: evil, Text: evil}})
	p.Patch(&Source{}, "", []missions.FileChange{{Path: evil, OldPath: evil, Type: evil}}, "diff --git a/x b/x\n"+evil+"\n@@ -0,0 +1 @@ "+evil+"\n+"+evil+"\n\\ "+evil+"\n")
	got := p.b.String()
	for _, never := range []string{"<script", "\x1b", "\u202e", "empty", "</pre>&"} {
		if strings.Contains(got, never) {
			t.Errorf("%q is in\n%s", never, got)
		}
	}
	const shown = "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J\\u202e&amp;amp;"
	if n := strings.Count(got, shown); n < 15 {
		t.Errorf("%d times %s in\n%s", n, shown, got)
	}
}

// TestPatch: each line has its numbers, before and after.
func TestPatch(t *testing.T) {
	t.Parallel()
	p := New("a patch")
	files := []missions.FileChange{{Path: "a.txt", Type: "modified", Added: 1, Deleted: 1}, {Path: "new", OldPath: "old", Type: "renamed"}, {Path: "b.bin", Type: "modified", Binary: true}}
	p.Patch(&Source{}, "", files, `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -7,3 +8,3 @@ above
 same
-gone
+come
 end
diff --git a/old b/new
old mode 100644
new mode 100755
similarity index 100%
rename from old
rename to new
diff --git a/b.bin b/b.bin
index 1..2
Binary files a/b.bin and b/b.bin differ
`)
	got := p.b.String()
	for _, want := range []string{
		"<summary>a.txt <small>modified +1 −1</small></summary>", "<summary>old → new <small>renamed +0 −0</small></summary>", "<summary>b.bin <small>modified binary</small></summary>",
		"<tr class=hunk><td><td><td>@@ -7,3 +8,3 @@ above\n",
		"<tr class=context><td>7<td>8<td><i> </i>same\n<tr class=removed><td>8<td><td><i>-</i>gone\n<tr class=added><td><td>9<td><i>+</i>come\n<tr class=context><td>9<td>10<td><i> </i>end\n",
		"<tr class=note><td><td><td>new mode 100755\n", "Binary files a/b.bin and b/b.bin differ\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "index 1") || strings.Contains(got, "rename from") {
		t.Errorf("Git's header is in\n%s", got)
	}
}

// TestSave writes over a page, and over nothing else.
func TestSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"first", "second"} {
		if err := New(title).save(file); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v: what was its user's alone is not", info.Mode(), err)
		}
		if got, err := os.ReadFile(file); err != nil || !strings.Contains(string(got), "<h1>"+title+"</h1>") {
			t.Errorf("%v\n%s", err, got)
		}
	}
	for _, precious := range []string{"precious", head[:20], strings.Repeat("x", 1000)} {
		if err := os.WriteFile(file, []byte(precious), 0o600); err != nil {
			t.Fatal(err)
		}
		err := New("third").save(file)
		if got, _ := os.ReadFile(file); string(got) != precious || missions.AsError(err).Kind != missions.KindConflict {
			t.Errorf("%q became %q: %v", precious, got, err)
		}
	}
	for name, want := range map[string]string{filepath.Join(dir, "no", "page.html"): "no such file", dir: "is no file", os.DevNull: "is no file"} {
		if err := New("fourth").save(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
