// Package seal encrypts files for the holders of a key, in the format of age (age-encryption.org).
package seal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"filippo.io/age"

	"github.com/umbra-vcs/umbra/gitstore/disk"
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

// Make draws a key and writes it to a file that is not there yet, durably.
func Make(path string) error {
	drawn, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "# created: %s\n# public key: %s\n%s\n", time.Now().Format(time.RFC3339), drawn.Recipient(), drawn)
	return errors.Join(err, f.Sync(), f.Close())
}

// Seal writes to out what in has, encrypted.
func (k *Key) Seal(out io.Writer, in io.Reader) error {
	w, err := age.Encrypt(out, k.recipients...)
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
