package missions

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
		_, _ = readConfig(text, ConfigKeys(), &c)
		if err := os.WriteFile(filepath.Join(dir, ".umbra.yml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		before := DefaultConfig().Capture
		before.Secrets = []string{"*.key"}
		after, err := before.narrowedBy(dir)
		if err != nil && !reflect.DeepEqual(after, limits{CaptureConfig: before, NewFileSize: before.MaxFileSize}) {
			t.Fatalf("an error changed the limits: %+v", after)
		}
		if after.NewFileSize <= 0 || after.NewFileSize > before.MaxFileSize || !slices.Equal(after.Secrets, before.Secrets) ||
			after.MaxFileSize > before.MaxFileSize || after.MaxFiles > before.MaxFiles || after.MaxBytes > before.MaxBytes ||
			after.MaxFileSize <= 0 || after.MaxFiles <= 0 || after.MaxBytes <= 0 {
			t.Fatalf("%q gives %+v", text, after)
		}
	})
}

// FuzzLifecycle: what is read of a stored lifecycle is written as it was.
func FuzzLifecycle(f *testing.F) {
	for _, l := range []Lifecycle{Initializing{}, Running{}, Idle{}, Failed{}, Closed{}} {
		p, err := marshalLifecycle(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		l, err := unmarshalLifecycle(p)
		if err != nil {
			return
		}
		text, err := marshalLifecycle(l)
		if err != nil {
			t.Fatal(err)
		}
		again, err := unmarshalLifecycle(text)
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("%s becomes %+v, %v", p, again, err)
		}
	})
}
