"""Value nets and the players that choose by them."""
