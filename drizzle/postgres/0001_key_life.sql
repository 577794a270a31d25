ALTER TABLE "api_keys" ADD COLUMN "expires_at" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "rate_limit" integer;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "replaced_by" text;--> statement-breakpoint
CREATE INDEX "authorizations_live" ON "authorizations" USING btree ("project_id","user_id","expires_at") WHERE share_key is not null;