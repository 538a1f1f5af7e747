package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// IsBundle reports whether a file begins as a Git bundle.
func IsBundle(head []byte) bool {
	return bytes.HasPrefix(head, []byte("# v2 git bundle\n")) || bytes.HasPrefix(head, []byte("# v3 git bundle\n"))
}

// BundleRefs are the refs that a bundle names, of which only the beginning is read.
func BundleRefs(r io.Reader) (refs []Ref, err error) {
	in := bufio.NewReader(r)
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, errors.Join(errors.New("its header has no end"), gitstore.Ignoring(err, io.EOF))
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case n == 0 && !strings.HasPrefix(line, "# v2 git bundle"):
			return nil, errors.New("it is no Git bundle")
		case n == 0, strings.HasPrefix(line, "-"), strings.HasPrefix(line, "@"):
			continue
		case line == "":
			return refs, nil
		}
		hex, name, _ := strings.Cut(line, " ")
		id, err := gitstore.ParseID(hex)
		if err != nil {
			return nil, err
		}
		refs = append(refs, Ref{Name: name, ID: id})
	}
}
