package shadow

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

func TestHashBlob(t *testing.T) {
	for _, content := range []string{"", "a", strings.Repeat("umbra\n", 100_000)} {
		id, err := gitstore.HashBlob(strings.NewReader(content), int64(len(content)))
		if want := gitstore.HashObject(gitstore.TypeBlob, []byte(content)); err != nil || id != want {
			t.Errorf("%d bytes: %s, %v, want %s", len(content), id, err, want)
		}
		size := int64(len(content)) + 1
		if _, err := gitstore.HashBlob(strings.NewReader(content), size); !errors.Is(err, gitstore.ErrSizeChanged) {
			t.Errorf("%d bytes announced as %d: %v", len(content), size, err)
		}
		if _, err := gitstore.HashBlob(strings.NewReader(content+"."), size-1); !errors.Is(err, gitstore.ErrSizeChanged) {
			t.Errorf("%d bytes announced as %d: %v", size, size-1, err)
		}
	}
}
