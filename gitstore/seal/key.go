// Package seal encrypts files for the holders of a key, in the format of age (age-encryption.org).
package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"filippo.io/age"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// Key is what a file of age identities has: whoever has it reads what is sealed with it.
type Key struct {
	identities []age.Identity
	recipients []age.Recipient
}

// ErrOtherKey is the error of what was sealed with another key.
var ErrOtherKey = errors.New("it was encrypted with another key")

// Read reads a key from a file as age-keygen makes it.
func Read(path string) (*Key, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k := &Key{}
	if k.identities, err = age.ParseIdentities(f); err != nil {
		return nil, fmt.Errorf("%s is no file of age identities: %w", path, err)
	}
	for _, one := range k.identities {
		switch own := one.(type) {
		case *age.X25519Identity:
			k.recipients = append(k.recipients, own.Recipient())
		case *age.HybridIdentity:
			k.recipients = append(k.recipients, own.Recipient())
		}
	}
	if len(k.recipients) != len(k.identities) {
		return nil, fmt.Errorf("%s has a key of a kind that is not known here", path)
	}
	return k, nil
}

// Drawn is a new key that is in no file yet.
type Drawn struct {
	*Key
	drawn *age.X25519Identity
}

// Draw draws a key.
func Draw() (*Drawn, error) {
	drawn, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return &Drawn{&Key{[]age.Identity{drawn}, []age.Recipient{drawn.Recipient()}}, drawn}, nil
}

// Save writes the key to a file as age-keygen makes it, durably. What is there is fs.ErrExist,
// and stays.
func (d *Drawn) Save(path string) error {
	return journal.Place(path, 0o600, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "# created: %s\n# public key: %s\n%s\n", time.Now().Format(time.RFC3339), d.drawn.Recipient(), d.drawn)
		return err
	}, journal.PlaceOptions{})
}

// Begins reports whether a file begins as one that is sealed.
func Begins(head []byte) bool { return bytes.HasPrefix(head, []byte("age-encryption.org/")) }

// SealTo gives what encrypts to out all that is written to it. What is there is whole once it is
// closed without an error; out stays open.
func (k *Key) SealTo(out io.Writer) (io.WriteCloser, error) { return age.Encrypt(out, k.recipients...) }

// Seal writes to out what in has, encrypted.
func (k *Key) Seal(out io.Writer, in io.Reader) error {
	w, err := k.SealTo(out)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	return w.Close()
}

// Open gives what was sealed. Each piece of it is proved before it is given, and an end that is
// not the end is an error.
func (k *Key) Open(in io.Reader) (io.Reader, error) {
	r, err := age.Decrypt(in, k.identities...)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, ErrOtherKey
	}
	return r, err
}
