CREATE TABLE "servers" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"key_ids" text NOT NULL,
	"beat_at" bigint NOT NULL
);
