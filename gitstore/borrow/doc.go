// Package borrow gives objects of the user's repository a second name in the shadow
// repository, without reading them, and proves later that they are what their names say.
// It writes nothing to the user's repository.
package borrow
