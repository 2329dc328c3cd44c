// SPDX-License-Identifier: Apache-2.0
// TLS, DTLS, certificates and digests by OpenSSL.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/// TLS 1.2 and 1.3 only, no renegotiation, no compression, nothing kept for resumption, no buffers while idle.
static inline void callbox_tls_prepare(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static inline int callbox_tls_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

/// Asks for the certificate's callback to be called again at the next step of the handshake.
static inline void callbox_tls_retry_verify(SSL *ssl) { SSL_set_retry_verify(ssl); }

/// The connection whose peer's chain is looked at.
static inline SSL *callbox_tls_of_chain(X509_STORE_CTX *chain) {
    return (SSL *)X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
}

/// Writes a name as RFC 2253 text, in UTF-8.
static inline void callbox_x509_write_name(BIO *out, const X509_NAME *name) {
    X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
