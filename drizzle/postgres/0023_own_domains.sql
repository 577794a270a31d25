ALTER TABLE "brandings" ADD COLUMN "domain_mac" text;--> statement-breakpoint
CREATE UNIQUE INDEX "brandings_proved_domain" ON "brandings" USING btree ("domain") WHERE domain_proved_at is not null;