package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteSection: the page gets the text, and keeps everything else.
func TestWriteSection(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.md")
	begin, end := sectionMarks("scripts/x")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Page\n" + begin + "old\n" + end + "\n## More\n")
	for _, text := range []string{"new\n", "newer\n"} {
		if err := WriteSection(name, "scripts/x", text); err != nil {
			t.Fatal(err)
		}
		want := "# Page\n" + begin + text + end + "\n## More\n"
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("the page is %q, want %q, %v", got, want, err)
		}
	}
	for _, text := range []string{"# Page\n", "# Page\n" + begin} {
		write(text)
		if err := WriteSection(name, "scripts/x", "text"); err == nil {
			t.Errorf("%q was written", text)
		}
	}
}
