package shadow

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

func TestBrokenIndexHidesNoOtherObject(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	id := must[gitstore.ID](t)(b.Blob([]byte("loose")))
	noErr(t, b.Flush(ctx))
	noErr(t, os.WriteFile(filepath.Join(s.PackDir(), "pack-1.idx"), []byte("nonsense"), 0o600))
	noErr(t, os.WriteFile(filepath.Join(s.PackDir(), "pack-1.pack"), []byte("nonsense"), 0o600))
	again := must[*Store](t)(Open(s.Dir()))
	defer again.Close()
	if ok, err := again.Has(id); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if got := must[[]byte](t)(again.Blob(id)); string(got) != "loose" {
		t.Errorf("%q", got)
	}
	if ok, err := again.Has(testID(3)); ok || err == nil {
		t.Errorf("absence was claimed beside a broken index: %v %v", ok, err)
	}
}
