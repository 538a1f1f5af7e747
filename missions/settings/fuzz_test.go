package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// FuzzConfig: whatever a project's own file says, it makes no limit larger and
// takes no secret out of those that are configured.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("capture:\n  max_file_size: 10\n  max_files: -1\n  secrets: ['*.pem2', '!*.key']\n"))
	f.Add([]byte("capture: &a {secrets: [x]}\nother: *a\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		var c Config
		_, _ = readConfig(text, Keys(), &c)
		if err := os.WriteFile(filepath.Join(dir, ".umbra.yml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		before := Default().Capture
		before.Secrets = []string{"*.key"}
		after, err := before.NarrowedBy(dir)
		if err != nil && !reflect.DeepEqual(after, Limits{Capture: before, NewFileSize: before.MaxFileSize}) {
			t.Fatalf("an error changed the limits: %+v", after)
		}
		if after.NewFileSize <= 0 || after.NewFileSize > before.MaxFileSize || !slices.Equal(after.Secrets, before.Secrets) ||
			after.MaxFileSize > before.MaxFileSize || after.MaxFiles > before.MaxFiles || after.MaxBytes > before.MaxBytes ||
			after.MaxFileSize <= 0 || after.MaxFiles <= 0 || after.MaxBytes <= 0 {
			t.Fatalf("%q gives %+v", text, after)
		}
	})
}
