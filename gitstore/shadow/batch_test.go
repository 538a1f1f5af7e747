package shadow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

func TestBatchIsReadableByGitAndUs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 29, 30, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := storetest.New(t)
			ctx := context.Background()
			b := s.NewBatch()
			defer b.Discard()
			rnd := rand.New(rand.NewPCG(1, uint64(n)))
			files := map[string]string{}
			for i := range n {
				data := make([]byte, rnd.IntN(5000))
				for j := range data {
					data[j] = byte(rnd.IntN(20))
				}
				files[fmt.Sprintf("f%d", i)] = string(data)
			}
			c := storetest.CommitFiles(t, b, 1, files)
			before := s.Fsyncs()
			storetest.NoErr(t, b.Flush(ctx))
			storetest.NoErr(t, b.ProveTree(storetest.Must[*gitstore.Commit](t)(s.Commit(c)).Tree, gitstore.ID{}))
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, c, gitstore.Durable))
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Mission), gitstore.ID{}, c, gitstore.Derived))
			if got := s.Fsyncs() - before; got > 5 {
				t.Errorf("%d fsyncs for a snapshot of %d files", got, n)
			}
			storetest.Fsck(t, s)
			again := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer again.Close()
			for name, data := range files {
				e := storetest.Must[gitstore.TreeEntry](t)(again.Lookup(storetest.Must[*gitstore.Commit](t)(again.Commit(c)).Tree, name))
				if got := storetest.Must[[]byte](t)(again.Blob(e.ID)); string(got) != data {
					t.Fatalf("%s differs", name)
				}
			}
		})
	}
}

func TestBlobFrom(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	big := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	id := storetest.Must[gitstore.ID](t)(b.BlobFrom(bytes.NewReader(big), int64(len(big))))
	if id != gitstore.HashObject(gitstore.TypeBlob, big) {
		t.Fatal("wrong id")
	}
	if again := storetest.Must[gitstore.ID](t)(b.BlobFrom(bytes.NewReader(big), int64(len(big)))); again != id {
		t.Fatal("wrong id the second time")
	}
	for _, announced := range []int{len(big) - 1, len(big) + 1, 10} {
		if _, err := b.BlobFrom(bytes.NewReader(big), int64(announced)); !errors.Is(err, gitstore.ErrSizeChanged) {
			t.Errorf("announced %d: %v", announced, err)
		}
	}
	small := storetest.Must[gitstore.ID](t)(b.BlobFrom(strings.NewReader("after"), 5))
	storetest.NoErr(t, b.Flush(ctx))
	if got := storetest.Must[[]byte](t)(s.Blob(id)); !bytes.Equal(got, big) {
		t.Error("content differs")
	}
	if got := storetest.Must[[]byte](t)(s.Blob(small)); string(got) != "after" {
		t.Error("small content differs")
	}
	r, size, err := s.BlobReader(id)
	storetest.NoErr(t, err)
	defer r.Close()
	var buf bytes.Buffer
	_, err = buf.ReadFrom(r)
	storetest.NoErr(t, err)
	if size != int64(len(big)) || !bytes.Equal(buf.Bytes(), big) {
		t.Error("streamed content differs")
	}
	storetest.Fsck(t, s)
}
